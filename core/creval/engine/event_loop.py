"""Runs the engine's coroutines from anywhere: a script, the command line, a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from threading import Event
from typing import Any, TypeVar

from creval.garbage import start_collection
from creval.interruption import CURRENT, Interruption

__all__ = ["DRIVER", "drive", "is_cancelled"]

T = TypeVar("T")

DRIVER: ContextVar[Callable[[Coroutine[Any, Any, Any]], Any] | None] = ContextVar("creval_driver", default=None)
"""The function that runs coroutines in place of a new loop; set in the threads of runs that share one loop."""


def is_cancelled() -> bool:
    """Return whether the current task is to end. If it is not, a CancelledError comes from a component."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new event loop, in a thread if a loop is already running (in a notebook).

    Raises KeyboardInterrupt if a signal stopped it, or has stopped an earlier one too late.
    """
    start_collection()
    interruption = CURRENT.get()
    elsewhere = DRIVER.get()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if elsewhere is not None:
            result: T = elsewhere(work)
            return result
        return asyncio.run(work) if interruption is None else _interruptible(work, interruption)
    return _in_a_thread(work)


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run in a thread. An interrupt of the caller (a notebook's stop button) cancels the coroutine, which cleans up."""
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()
    interrupted = Event()
    future: Future[T] | None = None

    async def watched() -> T:
        running.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        if interrupted.is_set():
            work.close()
            raise asyncio.CancelledError
        return await work

    with ThreadPoolExecutor(1) as thread:
        try:
            future = thread.submit(asyncio.run, watched())
            return future.result()
        except KeyboardInterrupt:
            interrupted.set()
            if running.done():
                loop, task = running.result()
                if task is not None:
                    with suppress(RuntimeError):  # it ends at this moment, and its loop is closed
                        loop.call_soon_threadsafe(task.cancel)
            if future is not None:
                with suppress(asyncio.CancelledError):
                    future.result()
            raise


def _interruptible(work: Coroutine[Any, Any, T], interruption: Interruption) -> T:
    if interruption.signal is not None:  # it came when the work before this one had just ended
        work.close()
        raise KeyboardInterrupt

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
