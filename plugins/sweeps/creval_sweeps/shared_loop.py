"""Several runs in one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from threading import Lock
from typing import Any, TypeVar

from creval.plugin.sweeps import CURRENT, DRIVER, drive

__all__ = ["SharedLoop", "drive_together"]

T = TypeVar("T")


class SharedLoop:
    """Runs several runs at once: each opens in its own thread, one after the other, and all share one event loop.

    So everything that their models share (limits, a budget) is used from only one loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stopped = False
        self.lock = Lock()
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to completion in the loop, while other threads continue. Raises KeyboardInterrupt if it was stopped."""
        token = DRIVER.set(None)  # what the work starts is not a run
        future = asyncio.run_coroutine_threadsafe(self._watched(work), self._loop)
        self.lock.release()
        try:
            return future.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self.lock.acquire()
            DRIVER.reset(token)

    async def _watched(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self.stopped:
                work.close()
                raise asyncio.CancelledError
            return await work
        finally:
            self._tasks.discard(task)

    def stop(self) -> None:
        """Let all of them end in order. Call it in the loop."""
        self.stopped = True
        for task in self._tasks:
            task.cancel()


def drive_together(runs: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """Call functions that `drive` work, at most `at_once` at a time, and return their results, in order.

    An interruption ends them all, starts no others, and is raised as KeyboardInterrupt when they have ended.
    """
    return drive(_together(runs, at_once))


async def _together(runs: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    together = SharedLoop(asyncio.get_running_loop())

    def one(run: Callable[[], T]) -> T | None:
        CURRENT.set(None)  # the command as a whole is interrupted
        DRIVER.set(together.run)
        with together.lock, suppress(KeyboardInterrupt):
            return None if together.stopped else run()
        return None

    with ThreadPoolExecutor(at_once) as threads:
        futures = [threads.submit(copy_context().run, one, run) for run in runs]
        waiting = [asyncio.wrap_future(future) for future in futures]
        try:
            await asyncio.wait(waiting)
        except asyncio.CancelledError:
            together.stop()
            await asyncio.wait(waiting)
            raise
    return [result for each in waiting for result in [each.result()] if result is not None]
