"""Confidence intervals of a metric, and the scale of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from creval.scoring.clusters import Clusters, Floats
from creval.scoring.distributions import beta_quantile, t_quantile
from creval.types.components import Aggregation

__all__ = [
    "ANY",
    "REPLICATES",
    "Scale",
    "bootstrap_interval",
    "clopper_pearson",
    "least_defined",
    "quantile",
    "resampled",
    "t_interval",
    "transformed_interval",
]


_SCALE_ROUNDING = 1e-6  # vectors have single precision, so a cosine may exceed 1 by this much


class Scale(NamedTuple):
    """From `low` to `high` (None: no bound); `binary`: each score is 0 or 1."""

    low: float | None = None
    high: float | None = None
    binary: bool = False

    def of(self, aggregation: Aggregation) -> Scale:
        """Return the scale of the aggregated number: a share of successes is always binary."""
        return Scale(0.0, 1.0, True) if self.binary or getattr(aggregation, "share", False) else self

    def outside(self, clusters: Clusters) -> float | None:
        """Return a value outside of the scale, or None."""
        lowest, highest = float(clusters.values.min()), float(clusters.values.max())
        if self.low is not None and lowest < self.low - _SCALE_ROUNDING * max(1.0, abs(self.low)):
            return lowest
        above = self.high is not None and highest > self.high + _SCALE_ROUNDING * max(1.0, abs(self.high))
        return highest if above else None


ANY = Scale()
"""A scale without bounds."""


REPLICATES = 2_000

_CELLS = 500_000  # random numbers held at once

_ROUNDING = 1e-12

_JACKKNIFED = 2_000


Number = TypeVar("Number", float, Floats)


def quantile(freedom: Number, confidence: float) -> Number:
    """Return the two-sided quantile of Student's t."""
    if np.ndim(freedom) == 0:
        found: Any = t_quantile(float(freedom), confidence)
        return cast(Number, found)
    from scipy.special import stdtrit

    return cast(Number, stdtrit(freedom, (1 + confidence) / 2))


def t_interval(value: Number, error: Number, freedom: Number, confidence: float) -> tuple[Number, Number]:
    """Return value -+ t * standard error; numbers, or arrays of studies."""
    reach = quantile(freedom, confidence) * error
    return value - reach, value + reach


def transformed_interval(
    value: Number, error: Number, reach: Number, low: float | None, high: float | None
) -> tuple[Floats, Floats]:
    """Return the interval of a number with the bounds `low` and `high` (or one of them), which it never leaves.

    It is the t interval of g(value), transformed back: g is the logarithm of the distance to the bound, or the logit
    between both bounds. With b = g''(value) error^2 / 2 the centre is g(value) - b and the error sqrt((g' error)^2 + 2
    b^2): what the second order of Taylor's series adds matters for skewed scores of few docs (for the logarithm it is
    Cox's method, Zhou and Gao 1997, Stat. Med. 16, 783-790). `reach` is the quantile of t. The value has to lie within
    the bounds.
    """
    number, spread = np.asarray(value, dtype=np.float64), np.asarray(error, dtype=np.float64)
    if low is None or high is None:
        assert low is not None or high is not None
        distance = number - low if low is not None else cast(float, high) - number
        relative = spread / distance
        bend, scale = -(relative**2) / 2, np.log(distance)
        width = reach * np.sqrt(relative**2 + 2 * bend**2)
        ends = np.exp(scale - bend - width), np.exp(scale - bend + width)
        if low is not None:
            return low + ends[0], low + ends[1]
        return cast(float, high) - ends[1], cast(float, high) - ends[0]
    share, spread = (number - low) / (high - low), spread / (high - low)
    slope = 1 / (share * (1 - share))
    bend = (2 * share - 1) * slope**2 * spread**2 / 2
    centre, width = np.log(share / (1 - share)) - bend, reach * np.sqrt((slope * spread) ** 2 + 2 * bend**2)
    return low + (high - low) * _logistic(centre - width), low + (high - low) * _logistic(centre + width)


def _logistic(number: Floats) -> Floats:
    return cast(Floats, np.exp(-np.logaddexp(0.0, -number)))


def clopper_pearson(share: float | Floats, clusters: float | Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the exact binomial interval of a share (0 to 1), with the (effective) number of docs as number of tries.

    Clopper & Pearson (1934, Biometrika 26, 404-413): the quantiles of Beta(x, n - x + 1) and Beta(x + 1, n - x) for
    x = share * n, here with any x from 0 to n. Repeats of a doc do not count as tries, since they may depend on each
    other.
    """
    tail = (1 - confidence) / 2
    hits = np.clip(np.asarray(share, dtype=np.float64) * clusters, 0.0, clusters)
    rest = clusters - hits
    none, every = hits <= _ROUNDING * clusters, rest <= _ROUNDING * clusters
    low = _beta_quantile(np.where(none, 1.0, hits), rest + 1, tail)
    high = _beta_quantile(hits + 1, np.where(every, 1.0, rest), 1 - tail)
    return np.where(none, 0.0, low), np.where(every, 1.0, high)


def _beta_quantile(a: Floats, b: Floats, share: float) -> Floats:
    if np.ndim(a) == 0:
        return np.asarray(beta_quantile(float(a), float(b), share))
    from scipy.special import betaincinv

    return cast(Floats, betaincinv(a, b, share))


def bootstrap_interval(
    aggregation: Aggregation, clusters: Clusters, seed: int, confidence: float
) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated interval of the cluster bootstrap, which draws whole docs.

    Efron (1987, J. Am. Stat. Assoc. 82, 171-185), the acceleration by the jackknife over docs (0 above _JACKKNIFED of
    them). REPLICATES resamples from `numpy.random.default_rng(seed)`; the same seed and data give the same interval.
    Resamples in which the metric is undefined are left out. Returns None if they are so many that an end could lie
    among them, and if all resamples lie on one side of the value.
    """
    from scipy.special import ndtr, ndtri

    values = resampled(aggregation, clusters, seed)
    known = np.sort(values[np.isfinite(values)])
    value = aggregation.value(clusters)
    if len(known) < least_defined(len(values), confidence) or value is None:
        return None
    below = (np.searchsorted(known, value, "left") + np.searchsorted(known, value, "right")) / 2 / len(known)
    if not 0 < below < 1:
        return None
    bias, bend = float(ndtri(below)), _acceleration(aggregation, clusters)
    tails = bias + ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    low, high = np.quantile(known, ndtr(bias + tails / (1 - bend * tails)))
    return float(low), float(high)


def least_defined(resamples: int, confidence: float) -> int:
    """Return the least number of resamples with a value: all except those of one tail."""
    return max(1, int(np.ceil(resamples * (1 + confidence) / 2)))


def _acceleration(aggregation: Aggregation, clusters: Clusters) -> float:
    """Return the skewness of the jackknife's values over six; 0 if there are too many docs to leave each out once."""
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        numerators, denominators = parts(clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            leave_one_out = (numerators.sum() - numerators) / (denominators.sum() - denominators)
    elif hasattr(aggregation, "of_sums"):
        sums = aggregation.sums(clusters)  # type: ignore[attr-defined]
        leave_one_out = aggregation.of_sums(sums.sum(axis=1)[:, None] - sums)
    elif hasattr(aggregation, "resample") or len(clusters) > _JACKKNIFED:
        return 0.0
    else:
        docs = list(clusters)
        leave_one_out = np.array([_value(aggregation, docs[:i] + docs[i + 1 :]) for i in range(len(docs))])
    deviations = (
        leave_one_out[np.isfinite(leave_one_out)].mean() - leave_one_out[np.isfinite(leave_one_out)]
        if np.isfinite(leave_one_out).any()
        else np.zeros(1)
    )
    squares = float((deviations**2).sum())
    return float((deviations**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def resampled(aggregation: Aggregation, clusters: Clusters, seed: int) -> Floats:
    """Return the metric in each resample; the same seed draws the same docs."""
    values = _resampling(aggregation, clusters)
    return np.concatenate([values(draws) for draws in _draws(len(clusters), seed)])


def _draws(count: int, seed: int) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the resamples in blocks of shape (some, count): numbers of docs."""
    random = np.random.default_rng(seed)
    rows = max(1, _CELLS // count)
    for start in range(0, REPLICATES, rows):
        yield random.integers(0, count, size=(min(rows, REPLICATES - start), count), dtype=np.int32)


def _resampling(aggregation: Aggregation, clusters: Clusters) -> Callable[[np.ndarray[Any, Any]], Floats]:
    """Return a function for the metric in each resample: the aggregation's own fast one, else one that calls it."""
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        return _Ratios(*parts(clusters))
    if hasattr(aggregation, "of_sums"):
        sums = aggregation.sums(clusters)  # type: ignore[attr-defined]
        return lambda draws: cast(Floats, aggregation.of_sums(sums[:, draws].sum(axis=2)))
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
