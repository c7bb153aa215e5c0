"""From the values of a metric to an Estimate."""

from __future__ import annotations

import math

import numpy as np

from creval.errors import ScoringError
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import bootstrap_interval, t_interval
from creval.types.components import Aggregation
from creval.types.metrics import Estimate

__all__ = ["CONFIDENCE", "estimate"]

CONFIDENCE = 0.95


def estimate(
    aggregation: Aggregation, clusters: Clusters, method: str, seed: int, confidence: float = CONFIDENCE
) -> Estimate:
    """Aggregate values and say how certain the number is.

    `method`: `t`, `cluster_bootstrap` or `none`. Below two docs, and where the metric is undefined, there is neither
    standard error nor interval: None, never a zero. Raises ScoringError where a value, or what the aggregation makes
    of finite values, is not a finite number.
    """
    if len(clusters.values) and not np.isfinite(clusters.values).all():
        raise ScoringError("a value is not a finite number", cure="Correct the scorer, then run creval score RUN.")
    size, docs = len(clusters.values), len(clusters)
    value = _finite(aggregation.value(clusters), "value") if docs else None
    if value is None or docs < 2:
        return Estimate(value, size, docs, confidence=confidence, method=method if docs >= 2 else "none")
    error = _finite(aggregation.standard_error(clusters), "standard error")
    interval: tuple[float, float] | None = None
    if method == "t" and error is not None:
        interval = t_interval(value, error, docs, confidence)
    elif method == "cluster_bootstrap":
        interval = bootstrap_interval(aggregation, clusters, seed, confidence)
    low, high = interval or (None, None)
    return Estimate(value, size, docs, error, low, high, confidence, method if interval else "none")


def _finite(number: float | None, what: str) -> float | None:
    if number is None:
        return None
    if not math.isfinite(number):
        raise ScoringError(
            f"the aggregation gave a {what} that is not a number",
            cure="It must return None where the metric is undefined. Report this to the plugin that brings it.",
        )
    return float(number)
