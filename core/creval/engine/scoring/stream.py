"""Scores a stream of batches in this process: with one worker, or with as many as judges may be asked at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence

from creval.engine.scoring.score import BATCH, Pending, TaskScoring
from creval.errors import BudgetError
from creval.types.execution import ScoreSink
from creval.types.sample import Sample

__all__ = ["score_stream"]


class _Queue:
    """Samples to score, from which all workers draw; the file is read as they need it."""

    def __init__(self, samples: Iterator[Sequence[Sample]], scoring: TaskScoring) -> None:
        self.budget: BudgetError | None = None
        self._batches = samples
        self._scoring = scoring
        self._ready: deque[Pending] = deque()
        self._filling = asyncio.Lock()

    async def take(self, count: int) -> list[Pending]:
        """Return up to `count` samples to which the scorers that ask nobody were applied; none at the end."""
        async with self._filling:
            if not self._ready and self.budget is None:
                batch = next(self._batches, None)
                if batch is not None:
                    self._ready.extend(await self._scoring.begin(batch))
            if self.budget is not None:
                return []
            return [self._ready.popleft() for _ in range(min(count, len(self._ready)))]


async def score_stream(
    samples: Iterator[Sequence[Sample]], scoring: TaskScoring, concurrency: int, scored: ScoreSink
) -> None:
    """Score with as many workers as calls may be in flight, where a scorer asks others, else with one.

    Raises BudgetError when those in flight have come to their end.
    """
    queue = _Queue(samples, scoring)

    async def work() -> None:
        while True:
            try:
                group = await queue.take(scoring.waiting or BATCH)
                await scoring.finish(group)
            except BudgetError as error:  # those in flight come to their own end
                queue.budget = error
                return
            if not group:
                return
            scored([scoring.joined(each) for each in group])

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency if scoring.waiting else 1):
                workers.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if queue.budget is not None:
        raise queue.budget
