"""Interruption of a run: by Ctrl-C, or a signal with the same meaning."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

__all__ = ["CURRENT", "Interruption"]


class Interruption:
    """Whether a signal has asked this command to end, and the task of the event loop to cancel then.

    `signal` is the signal's number, or None. `resume_command` is the command that resumes the run.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.resume_command: str | None = None
        self._task: asyncio.Task[object] | None = None

    @contextmanager
    def cancels(self, task: asyncio.Task[object]) -> Iterator[None]:
        """Let a signal cancel this task, in which everything else runs, instead of raising an exception anywhere."""
        self._task = task
        try:
            yield
        finally:
            self._task = None

    def stop(self, number: int) -> None:
        """Handle a signal. Raises KeyboardInterrupt if no event loop is running. Call it in the main thread."""
        self.signal = number
        if self._task is None:
            raise KeyboardInterrupt
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)


CURRENT: ContextVar[Interruption | None] = ContextVar("creval_interruption", default=None)
"""The interruption of this command; None in scripts and notebooks, where Python handles signals."""
