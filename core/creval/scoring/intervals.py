"""Confidence intervals of a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from creval.scoring.clusters import Clusters, Floats
from creval.types.components import Aggregation

__all__ = ["REPLICATES", "bootstrap_difference", "bootstrap_interval", "clopper_pearson", "t_interval"]

REPLICATES = 2_000
_CELLS = 500_000  # random numbers held at once
_ROUNDING = 1e-12


Number = TypeVar("Number", float, Floats)


def t_interval(value: Number, error: Number, clusters: int, confidence: float) -> tuple[Number, Number]:
    """Return value -+ t * standard error, with C - 1 degrees of freedom over C docs; numbers, or arrays of studies."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(clusters - 1, (1 + confidence) / 2))
    return value - quantile * error, value + quantile * error


def clopper_pearson(share: float | Floats, clusters: int, confidence: float) -> tuple[Floats, Floats]:
    """Return the exact binomial interval of a share (0 to 1) with the number of docs as the number of tries.

    Clopper & Pearson (1934, Biometrika 26, 404-413): the quantiles of Beta(x, n - x + 1) and Beta(x + 1, n - x) for
    x = share * n, here with any x from 0 to n. Repeats of a doc add no try: they may all depend on each other.
    """
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    hits = np.clip(np.asarray(share, dtype=np.float64) * clusters, 0.0, clusters)
    rest = clusters - hits
    none, every = hits <= _ROUNDING * clusters, rest <= _ROUNDING * clusters
    low = betaincinv(np.where(none, 1.0, hits), rest + 1, tail)
    high = betaincinv(hits + 1, np.where(every, 1.0, rest), 1 - tail)
    return np.where(none, 0.0, low), np.where(every, 1.0, high)


def bootstrap_interval(
    aggregation: Aggregation, clusters: Clusters, seed: int, confidence: float
) -> tuple[float, float] | None:
    """Return the percentile interval of the cluster bootstrap: whole docs are drawn with replacement.

    REPLICATES resamples from `numpy.random.default_rng(seed)`; the same seed and data give the same interval.
    Where the metric is undefined in a resample that one is left out; None where it always is.
    """
    return _percentiles(_resampled(aggregation, clusters, seed), confidence)


def bootstrap_difference(
    aggregation: Aggregation, sides: tuple[Clusters, Clusters], seed: int, confidence: float
) -> tuple[float, float] | None:
    """Return the same interval for second minus first, of which a drawn doc brings both its values.

    `sides` hold the same docs in the same order.
    """
    one, other = (_resampled(aggregation, side, seed) for side in sides)
    return _percentiles(other - one, confidence)


def _resampled(aggregation: Aggregation, clusters: Clusters, seed: int) -> Floats:
    """The metric in each resample; the same seed draws the same docs."""
    values = _resampling(aggregation, clusters)
    return np.concatenate([values(draws) for draws in _draws(len(clusters), seed)])


def _percentiles(resampled: Floats, confidence: float) -> tuple[float, float] | None:
    """Return the percentiles that leave out equal tails; NaN is left out, None where there is nothing else."""
    known = resampled[np.isfinite(resampled)]
    if not len(known):
        return None
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _draws(count: int, seed: int) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the resamples in blocks of shape (some, count): numbers of docs."""
    random = np.random.default_rng(seed)
    rows = max(1, _CELLS // count)
    for start in range(0, REPLICATES, rows):
        yield random.integers(0, count, size=(min(rows, REPLICATES - start), count), dtype=np.int32)


def _resampling(aggregation: Aggregation, clusters: Clusters) -> Callable[[np.ndarray[Any, Any]], Floats]:
    """Return what computes the metric in each resample: fast where the aggregation tells how, else by calling it."""
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        return _Ratios(*parts(clusters))
    resample = getattr(aggregation, "resample", None)
    if resample is not None:
        return lambda draws: cast(Floats, resample(clusters, draws))
    return lambda draws: np.array([_value(aggregation, [clusters[int(i)] for i in row]) for row in draws])


class _Ratios:
    """Ratios of sums over drawn docs."""

    def __init__(self, numerators: Floats, denominators: Floats) -> None:
        self._numerators = numerators
        self._denominators = denominators
        self._constant = float(denominators[0]) if (denominators == denominators[0]).all() else None

    def __call__(self, draws: np.ndarray[Any, Any]) -> Floats:
        above = self._numerators[draws].sum(axis=1)
        if self._constant is not None:
            below = np.full(len(draws), self._constant * draws.shape[1])
        else:
            below = self._denominators[draws].sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return cast(Floats, above / below)


def _value(aggregation: Aggregation, clusters: Sequence[Floats]) -> float:
    value = aggregation.value(clusters)
    return np.nan if value is None else value
