"""From the values of a metric to an Estimate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from creval.errors import ScoringError
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import bootstrap_interval, clopper_pearson, t_interval
from creval.scoring.scale import ANY, Scale
from creval.types.components import Aggregation
from creval.types.metrics import Estimate

__all__ = ["CONFIDENCE", "estimate"]

_Interval = tuple[float, float] | None

CONFIDENCE = 0.95
_NO_VARIATION = 1e-12  # of the largest value: a spread below it is rounding


def estimate(
    aggregation: Aggregation,
    clusters: Clusters,
    method: str,
    seed: int,
    scale: Scale = ANY,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Aggregate values and say how certain the number is.

    `method`: `t`, `cluster_bootstrap`, `none`, or `auto`: Clopper-Pearson for 0/1 scores, else t, and the bootstrap
    for an aggregation without a standard error (docs/statistics.md says why). Docs with fewer values than the
    aggregation needs are left out. Below two docs, and where the metric is undefined, there is neither standard error
    nor interval: None, never a zero; no interval either where nothing varies. `no_interval` says why.
    Raises ScoringError where a value, or what the aggregation makes of finite values, is not a finite number.
    """
    if len(clusters.values) and not np.isfinite(clusters.values).all():
        raise ScoringError("a value is not a finite number", cure="Correct the scorer.")
    usable = clusters.of_size(getattr(aggregation, "minimum_repeats", 1))
    size, docs, unit = len(usable.values), len(usable), usable.unit
    value = _finite(aggregation.value(usable), "value") if docs else None
    if value is None or docs < 2:
        reason = f"no {unit} has a value" if value is None else f"there is one {unit} only"
        return Estimate(value, size, docs, None, None, None, confidence, "none", unit, reason)
    error = _finite(aggregation.standard_error(usable), "standard error")
    making = _Making(aggregation, usable, (value, error), scale.of(aggregation), seed, confidence)
    interval, used, why = making.interval(method)
    low, high = interval or (None, None)
    return Estimate(value, size, docs, error, low, high, confidence, used if interval else "none", unit, why)


@dataclass(frozen=True, slots=True)
class _Making:
    """How the interval of one number is made, or why there is none."""

    aggregation: Aggregation
    clusters: Clusters
    number: tuple[float, float | None]  # the value and its standard error
    scale: Scale
    seed: int
    confidence: float

    def interval(self, method: str) -> tuple[_Interval, str, str | None]:
        """Return the interval, the method that made it, and why there is none."""
        if method == "none":
            return None, "none", None
        outside = None if getattr(self.aggregation, "share", False) else self.scale.outside(self.clusters)
        if outside is not None:
            return None, "none", f"a score of {outside:g} lies outside the declared range"
        makers: Mapping[str, Callable[[], tuple[_Interval, str | None]]] = {
            "clopper_pearson": self._clopper_pearson,
            "t": self._t,
            "cluster_bootstrap": self._bootstrap,
        }
        chosen = self._automatic() if method == "auto" else method
        interval, why = makers[chosen]()
        return interval, chosen, why

    def _automatic(self) -> str:
        if self.scale.binary and hasattr(self.aggregation, "parts"):
            return "clopper_pearson"
        few = len(self.clusters) < getattr(self.aggregation, "minimum_clusters", 2)
        return "cluster_bootstrap" if self.number[1] is None and not few else "t"

    def _clopper_pearson(self) -> tuple[_Interval, str | None]:
        low, high = clopper_pearson(self.number[0], len(self.clusters), self.confidence)
        return (float(low), float(high)), None

    def _t(self) -> tuple[_Interval, str | None]:
        value, error = self.number
        least = getattr(self.aggregation, "minimum_clusters", 2)
        if len(self.clusters) < least:
            return None, f"there are fewer than {least} {self.clusters.unit}s"
        if error is None:
            return None, "the aggregation has no standard error"
        if self._still(error):
            return None, self._no_variation
        low, high = t_interval(value, error, len(self.clusters), self.confidence)
        return self.scale.clip(float(low), float(high)), None

    def _bootstrap(self) -> tuple[_Interval, str | None]:
        interval = bootstrap_interval(self.aggregation, self.clusters, self.seed, self.confidence)
        if interval is None:
            return None, "the metric is undefined in every resample"
        if self._still(interval[1] - interval[0]):
            return None, self._no_variation
        return interval, None

    def _still(self, spread: float) -> bool:
        values = self.clusters.values
        return spread <= _NO_VARIATION * max(-float(values.min()), float(values.max()), 0.0)

    @property
    def _no_variation(self) -> str:
        return f"nothing varies between the {self.clusters.unit}s"


def _finite(number: float | None, what: str) -> float | None:
    if number is None:
        return None
    if not math.isfinite(number):
        raise ScoringError(
            f"the aggregation gave a {what} that is not a number",
            cure="It must return None where the metric is undefined. Report this to the plugin that brings it.",
        )
    return float(number)
