"""The scorer `lmeval_code`: like `lmeval`, with programs from models run in creval's sandbox."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from creval.plugin import Context, Score, ScorerInput
from creval.plugin.programs import Limits, Program
from creval_lmeval.code_eval import RUNNER, SECONDS
from creval_lmeval.scorer import LmEvalScores

__all__ = ["LmEvalCodeScores"]


@dataclass(frozen=True, slots=True)
class LmEvalCodeScores:
    """Scores a document by lm-eval's own metrics; programs run in the sandbox."""

    task: str
    sources: str = ""

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Score one document, in a thread that waits for the sandbox. If it is cancelled, no other program begins."""
        sandbox = context.resource("sandbox")
        loop = asyncio.get_running_loop()
        ended = threading.Event()

        def passes(source: str) -> bool:
            if ended.is_set():
                raise asyncio.CancelledError
            running = sandbox.run(Program(source), [b""], Limits(cpu_seconds=SECONDS))
            (result,) = asyncio.run_coroutine_threadsafe(running, loop).result()
            return bool(result.succeeded)

        token = RUNNER.set(passes)
        try:
            return await asyncio.to_thread(LmEvalScores(self.task, self.sources).score, items, context)
        finally:
            ended.set()
            RUNNER.reset(token)
