"""Progress of a person: the number of the current sample, and of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval.plugin import Sample
    from creval.plugin.people import ModelStats

__all__ = ["Progress"]


class Progress:
    """Counts samples. It observes the run, so nothing else has to inform the seat."""

    def __init__(self) -> None:
        self.total = 0
        self.done = 0

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        """Update the counts of the generation."""
        if phase == "generate":
            self.total, self.done = total, done

    def on_sample(self, sample: Sample, stats: Callable[[], ModelStats]) -> None:
        """Count a sample that was written."""
        self.done += 1

    def on_scored(self, count: int) -> None:
        """Ignore scoring."""

    def on_roles(self, counts: Mapping[str, object]) -> None:
        """Ignore judges."""

    def on_finish(self, results: Mapping[str, Any]) -> None:
        """Ignore the end."""

    def words(self) -> str:
        """Return `3 of 10` for the third sample of ten; empty outside a run."""
        return f"{min(self.done + 1, self.total)} of {self.total}" if self.total else ""
