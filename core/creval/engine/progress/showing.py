"""Where progress is shown: in the cell of a notebook, else on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from creval.engine.observer import Observer
from creval.engine.progress.notebook import Notebook, in_notebook

__all__ = ["showing"]


@contextmanager
def showing() -> Iterator[Observer]:
    """Give an observer that shows the progress where the caller looks."""
    if in_notebook():
        yield Notebook()
        return
    from creval.engine.progress.terminal import watch

    with watch() as observer:
        yield observer
