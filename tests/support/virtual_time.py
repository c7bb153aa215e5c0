"""An event loop whose clock is turned by hand: waiting costs nothing, and waiting for nothing is an error."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["LoopClock", "run_virtual"]

T = TypeVar("T")


class _VirtualLoop(asyncio.SelectorEventLoop):
    """When nothing is ready, time jumps to the next timer instead of passing."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._look = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now

    def _select(self, timeout: float | None) -> Any:
        if timeout is None:
            raise RuntimeError("frozen: every task waits for something that nobody will do")
        self._now += max(0.0, timeout)
        return self._look(0)


class LoopClock:
    """A creval clock that follows the running loop."""

    start = 1_700_000_000.0

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        return self.start + self.now()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time; a deadlock raises RuntimeError at once. For code without sockets or threads."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(main)
