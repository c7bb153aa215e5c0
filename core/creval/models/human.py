"""`human/terminal`: a person answers at the keyboard."""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import Future
from time import perf_counter
from typing import TextIO

from creval.errors import FatalModelError, UnknownNameError, UsageError
from creval.models.options import ProviderOptions
from creval.models.traits import ProviderTraits
from creval.types.messages import Completion, GenerateRequest, Reply

__all__ = ["HumanTerminal", "human"]

_END = "."


class HumanTerminal:
    """A `Provider` that shows the conversation and reads lines up to one that holds a single full stop.

    One question at a time; `latency` is the time that the person took. The end of input (Ctrl-D) is a
    FatalModelError, so that a sample without an answer is errored.
    """

    traits = ProviderTraits(remote=False, cacheable=False, honours_n=False, concurrency=1, free=True)

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink

    async def generate(self, request: GenerateRequest) -> Reply:
        """Ask once."""
        shown = "\n\n".join(f"[{message.role}]\n{message.content}" for message in request.messages)
        doc = f"{request.origin.key.task}, doc {request.origin.key.doc}"
        self._sink.write(f"\n=== {doc} ===\n{shown}\n\n[your answer; end with a line that holds only {_END!r}]\n")
        self._sink.flush()
        start = perf_counter()
        answer: Future[str | None] = Future()
        # Not an executor's thread: those are waited for at the end, and this one may wait for a key for ever.
        threading.Thread(target=lambda: answer.set_result(self._read()), name="creval-human", daemon=True).start()
        text = await asyncio.wrap_future(answer)
        if text is None:
            raise FatalModelError("the input ended without an answer", where="human/terminal")
        return Reply((Completion(text),), latency=perf_counter() - start, model="human/terminal", cost=0.0)

    async def close(self) -> None:
        """Nothing is held open."""

    def _read(self) -> str | None:
        lines: list[str] = []
        while line := self._source.readline():
            if line.rstrip("\r\n") == _END:
                return "\n".join(lines)
            lines.append(line.rstrip("\r\n"))
        return None


def human(model: str, options: ProviderOptions) -> HumanTerminal:
    """Component `human`: `terminal`."""
    if model != "terminal":
        raise UnknownNameError("human", model, ["terminal"], hint="There is human/terminal.")
    if not sys.stdin.isatty():
        raise UsageError("human/terminal needs a keyboard", cure="Run it in a terminal, not in a pipe or a job.")
    return HumanTerminal(sys.stdin, sys.stderr)
