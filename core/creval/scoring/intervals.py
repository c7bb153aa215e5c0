"""Confidence intervals over values that come in clusters (the repeats of one doc)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval.types.components import Aggregation

__all__ = ["METHODS", "cluster_bootstrap", "t_interval"]

METHODS = ("cluster_bootstrap", "t", "none")
DRAWS = 2000
_CHUNK = 4_000_000  # numbers drawn at once, to bound memory


def t_interval(value: float, standard_error: float, clusters: int, confidence: float) -> tuple[float, float] | None:
    """Return value -+ t(clusters - 1 degrees of freedom) x standard error; None with fewer than two clusters."""
    if clusters < 2:
        return None
    from scipy.special import stdtrit

    reach = float(stdtrit(clusters - 1, 0.5 + confidence / 2)) * standard_error
    return value - reach, value + reach


def cluster_bootstrap(
    aggregation: Aggregation, clusters: Sequence[np.ndarray], confidence: float, seed: int, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Return the percentile interval over `draws` resamples of whole docs, with replacement.

    The seed makes it repeatable. None with fewer than two clusters, or where the aggregation is undefined in a
    resample.
    """
    if len(clusters) < 2:
        return None
    stream = np.random.Generator(np.random.PCG64(seed))
    values = _mean_draws(clusters, stream, draws) if getattr(aggregation, "is_mean", False) else None
    if values is None:
        values = _general_draws(aggregation, clusters, stream, draws)
    if values is None:
        return None
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


def _mean_draws(clusters: Sequence[np.ndarray], stream: np.random.Generator, draws: int) -> np.ndarray:
    """The mean of all values needs only each doc's sum and size, so resamples are drawn as arrays."""
    sums = np.array([cluster.sum() for cluster in clusters])
    sizes = np.array([cluster.size for cluster in clusters], dtype=np.float64)
    count = len(clusters)
    step = max(1, _CHUNK // count)
    parts = []
    for start in range(0, draws, step):
        chosen = stream.integers(0, count, size=(min(step, draws - start), count))
        parts.append(sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))
    return np.concatenate(parts)


def _general_draws(
    aggregation: Aggregation, clusters: Sequence[np.ndarray], stream: np.random.Generator, draws: int
) -> np.ndarray | None:
    values = np.empty(draws)
    for index in range(draws):
        chosen = stream.integers(0, len(clusters), size=len(clusters))
        value = aggregation.value([clusters[i] for i in chosen])
        if value is None:
            return None
        values[index] = value
    return values
