"""Who watches a run: the command line's progress, a notebook, a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from creval.models.stats import ModelStats
from creval.types.sample import Sample

__all__ = ["Observer", "Quiet"]


class Observer(Protocol):
    """Called on the way. Must be quick, and must not raise."""

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        """A phase begins: `open`, `generate` (all tasks), `score` (one task); `total` samples, `done` already there."""

    def on_sample(self, sample: Sample, stats: ModelStats) -> None:
        """A sample has been written; `stats` are the target's so far."""

    def on_scored(self, count: int) -> None:
        """`count` further samples have been scored."""

    def on_finish(self, results: Mapping[str, Any]) -> None:
        """results.json is written."""


class Quiet:
    """An observer that does nothing."""

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        pass

    def on_sample(self, sample: Sample, stats: ModelStats) -> None:
        pass

    def on_scored(self, count: int) -> None:
        pass

    def on_finish(self, results: Mapping[str, Any]) -> None:
        pass
