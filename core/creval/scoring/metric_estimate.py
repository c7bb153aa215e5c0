"""Computes an Estimate from the values of a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from creval.errors import ScoringError
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import (
    ANY,
    Scale,
    bootstrap_interval,
    clopper_pearson,
    quantile,
    t_interval,
    transformed_interval,
)
from creval.scoring.ratio import Mean
from creval.types.components import Aggregation
from creval.types.metrics import Estimate

__all__ = ["CONFIDENCE", "NO_VARIATION", "estimate", "estimate_mean"]

_Interval = tuple[float, float] | None
_Found = tuple[_Interval, str, str | None]
"""The interval, its method, and why there is none."""

CONFIDENCE = 0.95
NO_VARIATION = 1e-12
"""Relative to the largest value, or to 1 if all are smaller: a smaller spread is rounding."""


def estimate(
    aggregation: Aggregation,
    clusters: Clusters,
    method: str,
    seed: int,
    scale: Scale = ANY,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Aggregate values and estimate the uncertainty of the number.

    `method`: `t`, `cluster_bootstrap`, `none`, or `auto`: Clopper-Pearson for 0/1 scores, else t (of the logarithm or
    the logit where the scale has bounds), and the bootstrap for an aggregation without a standard error
    (docs/statistics.md says why). No interval leaves the scale. Docs with fewer values than the aggregation needs are
    left out. With fewer than two docs, or if the metric is undefined, standard error and interval are None, never zero;
    if nothing varies, there is no interval either. `no_interval` says why. Raises ScoringError if a value, or the
    aggregation's result for finite values, is not a finite number.
    """
    if len(clusters.values) and not np.isfinite(clusters.values).all():
        raise ScoringError("a value is not a finite number", fix="Correct the scorer.")
    usable = clusters.of_size(getattr(aggregation, "minimum_repeats", 1))
    size, docs, unit = len(usable.values), len(usable), usable.unit
    value = _finite(aggregation.value(usable), "value") if docs else None
    if value is None or docs < 2:
        undefined = "it divides by 0" if hasattr(aggregation, "of_sums") else f"it is undefined for these {unit}s"
        reason = f"there is one {unit} only" if value is not None else undefined if docs else f"no {unit} has a value"
        return Estimate(value, size, docs, None, None, None, confidence, "none", unit, reason)
    error = _finite(aggregation.standard_error(usable), "standard error")
    making = _Making(aggregation, usable, (value, error), scale.of(aggregation), seed, confidence)
    interval, used, why = making.interval(method)
    low, high = interval or (None, None)
    return Estimate(value, size, docs, error, low, high, confidence, used if interval else "none", unit, why)


def estimate_mean(values: Sequence[float], low: float | None = None, high: float | None = None) -> Estimate:
    """Return the mean of values, one per doc, with a 95 % interval that stays within `low` and `high` (None: no bound).

    The interval is that of a task's metric: t, or t of the logarithm or the logit if there are bounds.
    """
    clusters = Clusters.group(values, range(len(values)))
    return estimate(Mean(), clusters, "t", 0, Scale(low, high))


@dataclass(frozen=True, slots=True)
class _Making:
    """Computes the interval of one number, or why there is none."""

    aggregation: Aggregation
    clusters: Clusters
    number: tuple[float, float | None]  # the value and its standard error
    scale: Scale
    seed: int
    confidence: float

    def interval(self, method: str) -> _Found:
        """Return the interval, its method, and why there is none."""
        if method == "none":
            return None, "none", None
        other = any(hasattr(self.aggregation, name) for name in ("of_sums", "read"))  # whose values are not scores
        free = other or getattr(self.aggregation, "share", False)
        outside = None if free else self.scale.outside(self.clusters)
        if outside is not None:
            return None, "none", f"a score of {outside:g} lies outside the declared range"
        makers: Mapping[str, Callable[[], _Found]] = {
            "clopper_pearson": self._clopper_pearson,
            "order_statistics": self._order_statistics,
            "t": self._t,
            "cluster_bootstrap": self._bootstrap,
        }
        return makers[self._automatic() if method == "auto" else method]()

    def _automatic(self) -> str:
        if self.scale.binary and hasattr(self.aggregation, "parts"):
            return "clopper_pearson"
        if hasattr(self.aggregation, "interval"):
            return "order_statistics"
        few = len(self.clusters) < getattr(self.aggregation, "minimum_clusters", 2)
        return "cluster_bootstrap" if self.number[1] is None and not few else "t"

    def _clopper_pearson(self) -> _Found:
        docs = self._from_aggregation("effective_docs", len(self.clusters))
        low, high = clopper_pearson(self.number[0], docs, self.confidence)
        return (float(low), float(high)), "clopper_pearson", None

    def _t(self) -> _Found:
        value, error = self.number
        least = getattr(self.aggregation, "minimum_clusters", 2)
        if len(self.clusters) < least:
            return _none(f"there are fewer than {least} {self.clusters.unit}s")
        if error is None:
            whole = hasattr(self.aggregation, "parts")
            unit = self.clusters.unit
            return _none(f"one {unit} has all the weight" if whole else "the aggregation has no standard error")
        if self._still(error):
            return _none(self._no_variation)
        freedom = self._from_aggregation("degrees_of_freedom", len(self.clusters) - 1)
        low, high = self.scale.low, self.scale.high
        if low is None and high is None:
            return t_interval(value, error, freedom, self.confidence), "t", None
        if (low is not None and value <= low) or (high is not None and value >= high):
            return _none("the number lies at the end of its range")
        ends = transformed_interval(value, error, quantile(freedom, self.confidence), low, high)
        if not np.isfinite(ends).all():
            return _none(f"the {self.clusters.unit}s say too little")
        return (float(ends[0]), float(ends[1])), "log_t" if low is None or high is None else "logit_t", None

    def _order_statistics(self) -> _Found:
        least = getattr(self.aggregation, "minimum_clusters", 2)
        if len(self.clusters) < least:
            return _none(f"there are fewer than {least} {self.clusters.unit}s")
        interval = self.aggregation.interval(self.clusters, self.confidence)  # type: ignore[attr-defined]
        if interval is None:
            return _none(f"too few {self.clusters.unit}s have most of the values")
        if self._still(interval[1] - interval[0]):
            return _none(self._no_variation)
        return interval, "order_statistics", None

    def _bootstrap(self) -> _Found:
        interval = bootstrap_interval(self.aggregation, self.clusters, self.seed, self.confidence)
        if interval is None:
            return _none("the resamples do not surround the number, or have none")
        if self._still(interval[1] - interval[0]):
            return _none(self._no_variation)
        return interval, "cluster_bootstrap", None

    def _from_aggregation(self, what: str, otherwise: float) -> float:
        """Return what the aggregation reports about its docs, if it does."""
        tell = getattr(self.aggregation, what, None)
        return otherwise if tell is None else float(tell(self.clusters))

    def _still(self, spread: float) -> bool:
        return spread <= NO_VARIATION * max(1.0, float(np.abs(self.clusters.values).max()))

    @property
    def _no_variation(self) -> str:
        return f"nothing varies between the {self.clusters.unit}s"


def _none(why: str) -> _Found:
    return None, "none", why


def _finite(number: float | None, what: str) -> float | None:
    if number is None:
        return None
    if not math.isfinite(number):
        raise ScoringError(
            f"the aggregation returned a {what} that is not a number",
            fix="It must return None if the metric is undefined. Report this to the plugin that adds it.",
        )
    return float(number)
