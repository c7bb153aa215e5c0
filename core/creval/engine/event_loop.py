"""Runs the engine's coroutines from anywhere: a script, the command line, a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from threading import Lock
from typing import Any, TypeVar

from creval.garbage import collect_from_here
from creval.interruption import CURRENT, Interruption

__all__ = ["Together", "drive", "drive_together"]

T = TypeVar("T")


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end in an event loop of its own; where a loop is running already (a notebook), in a thread.

    Raises KeyboardInterrupt where a signal stopped it.
    """
    collect_from_here()
    interruption = CURRENT.get()
    together = _TOGETHER.get()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if together is not None:
            return together.run(work)
        return asyncio.run(work) if interruption is None else _interruptible(work, interruption)
    return _in_a_thread(work)


class Together:
    """Several runs at once: each is opened in a thread of its own, one thread at a time, and works in one event loop.

    So whatever their models share (limits, a budget) is used from one loop alone.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stopped = False
        self.lock = Lock()
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end in the loop; other threads go on meanwhile. Raises KeyboardInterrupt where it was stopped."""
        token = _TOGETHER.set(None)  # what the work starts is no run
        future = asyncio.run_coroutine_threadsafe(self._watched(work), self._loop)
        self.lock.release()
        try:
            return future.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self.lock.acquire()
            _TOGETHER.reset(token)

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


_TOGETHER: ContextVar[Together | None] = ContextVar("creval_together", default=None)


def drive_together(runs: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """Call functions that `drive` work, at most `at_once` at a time, and return what they return, in their order.

    An interruption ends them all, begins no other, and is raised as KeyboardInterrupt when they have ended.
    """
    return drive(_together(runs, at_once))


async def _together(runs: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    together = Together(asyncio.get_running_loop())

    def one(run: Callable[[], T]) -> T | None:
        CURRENT.set(None)  # the command as a whole is interrupted
        _TOGETHER.set(together)
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


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run in a thread. An interrupt of the caller (the notebook's stop button) cancels it, and it ends in order."""
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def watched() -> T:
        running.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(asyncio.run, watched())
        try:
            return done.result()
        except KeyboardInterrupt:
            loop, task = running.result()
            if task is not None and not done.done():
                loop.call_soon_threadsafe(task.cancel)
            with suppress(asyncio.CancelledError):
                done.result()
            raise


def _interruptible(work: Coroutine[Any, Any, T], interruption: Interruption) -> T:
    async def watched() -> T:
        task = asyncio.current_task()
        assert task is not None
        with interruption.cancels(task):
            return await work

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if interruption.signal is None:
            raise
        raise KeyboardInterrupt from None
