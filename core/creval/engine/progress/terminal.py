"""Live progress: a rich display on a terminal, plain lines elsewhere.

`showing` chooses between the cell of a notebook and standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from creval.engine.observer import Observer
from creval.engine.progress.progress_counts import Counting, Notebook, in_notebook

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Watch", "showing", "watch", "watch_several"]


PLAIN_SECONDS = 10.0
"""Seconds between lines if there is no terminal."""


Watch = Callable[[str], AbstractContextManager[Counting]]
"""Returns an observer for the run of this name, which is shown with its progress."""


@contextmanager
def watch() -> Iterator[Counting]:
    """Yield an observer that shows progress on standard error."""
    with watch_several() as watch_one, watch_one("") as observer:
        yield observer


@contextmanager
def watch_several() -> Iterator[Watch]:
    """Yield a function that makes observers of simultaneous runs, shown together on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name: nullcontext(_Plain(name))
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield lambda name: closing(_Live(progress, name))


class _Live(Counting):
    def __init__(self, progress: Progress, name: str) -> None:
        super().__init__(name)
        self._progress = progress
        self._bar: TaskID | None = None

    def close(self) -> None:
        """Remove its bar from the display."""
        if self._bar is not None:
            self._progress.remove_task(self._bar)
            self._bar = None

    def show_phase(self) -> None:
        self.close()
        self._bar = self._progress.add_task(
            escape(self.phase_words()), total=self.total or None, completed=self.done, facts=""
        )

    def show(self, now: bool = False) -> None:
        if self._bar is not None:
            self._progress.update(self._bar, completed=self.done, facts=self.facts())


class _Plain(Counting):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._last = 0.0

    def show_phase(self) -> None:
        if self.total:
            self._print(f"{self.phase_words()}: {self.done} of {self.total} done")

    def show(self, now: bool = False) -> None:
        if now or self.done == self.total or time.monotonic() - self._last >= PLAIN_SECONDS:
            self._print(self.line())

    def _print(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)


@contextmanager
def showing() -> Iterator[Observer]:
    """Yield an observer that shows progress in the notebook's cell or on standard error."""
    if in_notebook():
        yield Notebook()
        return

    with watch() as observer:
        yield observer
