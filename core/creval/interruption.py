"""What asks a run to end: Ctrl-C, or a signal that means the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

__all__ = ["CURRENT", "Interruption"]


class Interruption:
    """Whether a signal has asked this command to end, and the task of the event loop that then has to.

    `signal` is its number, None as long as there was none. `resume_command` is the command that resumes the run.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.resume_command: str | None = None
        self._task: asyncio.Task[object] | None = None

    @contextmanager
    def cancels(self, task: asyncio.Task[object]) -> Iterator[None]:
        """Let a signal cancel this task, within which everything else runs, in place of raising anywhere."""
        self._task = task
        try:
            yield
        finally:
            self._task = None

    def stop(self, number: int) -> None:
        """Take a signal. Raises KeyboardInterrupt where no event loop is at work. Call it in the main thread."""
        self.signal = number
        if self._task is None:
            raise KeyboardInterrupt
        self._task.get_loop().call_soon_threadsafe(self._task.cancel)


CURRENT: ContextVar[Interruption | None] = ContextVar("creval_interruption", default=None)
"""What listens to signals in this command; None in scripts and notebooks, which do as Python does."""
