"""From clustered values to an estimate with its standard error and interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from creval.errors import ScoringError
from creval.scoring.intervals import cluster_bootstrap, t_interval
from creval.types.components import Aggregation
from creval.types.metrics import Estimate

__all__ = ["estimate"]

CONFIDENCE = 0.95


def estimate(
    aggregation: Aggregation, clusters: Sequence[np.ndarray], method: str, seed: int, confidence: float = CONFIDENCE
) -> Estimate:
    """Estimate one metric.

    `clusters` holds one array of finite values a doc; `method` is `cluster_bootstrap`, `t` or `none`; `seed` feeds
    the bootstrap. Where something is undefined (no values, one doc) it is None, never NaN.

    Raises ScoringError where the aggregation gives a number that is not finite.
    """
    n = int(sum(cluster.size for cluster in clusters))
    value = _finite(aggregation.value(clusters), "value") if n else None
    if value is None:
        return Estimate(None, n, len(clusters), confidence=confidence)
    error = _finite(aggregation.standard_error(clusters), "standard error")
    interval = None
    if method == "cluster_bootstrap":
        interval = cluster_bootstrap(aggregation, clusters, confidence, seed)
    elif method == "t" and error is not None:
        interval = t_interval(value, error, len(clusters), confidence)
    low, high = interval if interval is not None else (None, None)
    return Estimate(value, n, len(clusters), error, low, high, confidence, method if interval is not None else "none")


def _finite(value: float | None, what: str) -> float | None:
    if value is not None and not math.isfinite(value):
        raise ScoringError(f"an aggregation gave a {what} that is no finite number ({value})")
    return value
