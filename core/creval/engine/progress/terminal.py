"""Live progress: a rich display on a terminal, plain lines everywhere else.

Where progress is shown: in the cell of a notebook, else on standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from creval.engine.observer import Observer
from creval.engine.progress.progress_counts import Counting, Notebook, in_notebook

__all__ = ["showing", "watch"]


PLAIN_SECONDS = 10.0

"""How often a line is printed where there is no terminal."""


@contextmanager
def watch() -> Iterator[Counting]:
    """Give an observer that shows the progress on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Plain()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Live(progress)


class _Live(Counting):
    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._bar: TaskID | None = None

    def show_phase(self) -> None:
        if self._bar is not None:
            self._progress.remove_task(self._bar)
        self._bar = self._progress.add_task(self.phase, total=self.total or None, completed=self.done, facts="")

    def show(self, now: bool = False) -> None:
        if self._bar is not None:
            self._progress.update(self._bar, completed=self.done, facts=self.facts())


class _Plain(Counting):
    def __init__(self) -> None:
        super().__init__()
        self._last = 0.0

    def show_phase(self) -> None:
        if self.total:
            self._print(f"{self.phase}: {self.done} of {self.total} done")

    def show(self, now: bool = False) -> None:
        if now or self.done == self.total or time.monotonic() - self._last >= PLAIN_SECONDS:
            self._print(self.line())

    def _print(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)


@contextmanager
def showing() -> Iterator[Observer]:
    """Give an observer that shows the progress where the caller looks."""
    if in_notebook():
        yield Notebook()
        return

    with watch() as observer:
        yield observer
