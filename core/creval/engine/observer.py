"""Observers of a run: the command line's progress, a notebook, a test."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from creval.engine.roles.ledger import RoleCounts
from creval.models.batching import BatchCounts
from creval.models.limiter import RateLimitNews
from creval.models.model_stats import ModelStats
from creval.types.sample import Sample

__all__ = ["Guarded", "Observer", "Quiet"]

_LOG = logging.getLogger("creval")


class Observer(Protocol):
    """Called during a run. Methods must return quickly; exceptions do not stop the run (see `Guarded`).

    Optional methods: `on_batches(counts)`, when a batch is sent, progresses or ends (`BatchCounts`), and
    `on_rate_limit(news)`, when a provider starts to answer only 429, still does, or answers again (`RateLimitNews`).
    """

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        """A phase begins: `open`, `generate` (all tasks) or `score` (one task); `done` of `total` samples are there."""

    def on_sample(self, sample: Sample, stats: Callable[[], ModelStats]) -> None:
        """A sample has been written; `stats()` returns the target's statistics so far."""

    def on_scored(self, count: int) -> None:
        """`count` further samples have been scored."""

    def on_roles(self, counts: Mapping[str, RoleCounts]) -> None:
        """A role other than the target has answered; `counts` are the counts of each role so far."""

    def on_finish(self, results: Mapping[str, Any]) -> None:
        """results.json is written."""


class Guarded:
    """Calls observers. One that raises is reported once and not called again; the run and other observers go on."""

    def __init__(self, *inner: Observer) -> None:
        self._inner = list(inner)

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        self._call("on_phase", phase, task, total, done)

    def on_sample(self, sample: Sample, stats: Callable[[], ModelStats]) -> None:
        self._call("on_sample", sample, stats)

    def on_scored(self, count: int) -> None:
        self._call("on_scored", count)

    def on_roles(self, counts: Mapping[str, RoleCounts]) -> None:
        self._call("on_roles", counts)

    def on_batches(self, counts: BatchCounts) -> None:
        self._call("on_batches", counts)

    def on_rate_limit(self, news: RateLimitNews) -> None:
        self._call("on_rate_limit", news)

    def on_finish(self, results: Mapping[str, Any]) -> None:
        self._call("on_finish", results)

    def _call(self, method: str, *arguments: Any) -> None:
        for inner in tuple(self._inner):
            try:
                callback = getattr(inner, method, None)
                if callback is not None:  # an observer need not implement every method
                    callback(*arguments)
            except Exception as error:
                what = f"{type(inner).__name__}.{method}: {type(error).__name__}: {error}"
                _LOG.warning("an observer failed and is left out from here on: %s", what)
                self._inner.remove(inner)


class Quiet:
    """An observer that does nothing."""

    def on_phase(self, phase: str, task: str | None, total: int, done: int) -> None:
        pass

    def on_sample(self, sample: Sample, stats: Callable[[], ModelStats]) -> None:
        pass

    def on_scored(self, count: int) -> None:
        pass

    def on_roles(self, counts: Mapping[str, RoleCounts]) -> None:
        pass

    def on_finish(self, results: Mapping[str, Any]) -> None:
        pass
