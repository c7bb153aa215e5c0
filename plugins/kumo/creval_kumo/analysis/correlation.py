"""Pearson correlation of KUMO with other benchmarks over models.

Source: paper 002, "Benchmarking State-of-the-Art LLMs" and Fig. 4c-e: success rate and relative action count of each
model against MMLU-Pro, LongBench V2 and LiveBench-Reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Correlation", "correlate"]

_FEWEST = 3
_Z95 = 1.959963984540054
_LIMIT = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r over the `n` models that have both numbers; None if it is undefined (`reason` says why).

    `p` is two-sided by Student's t with n - 2 degrees of freedom, `low` and `high` the ends of the 95 % interval by
    Fisher's z (None with three models, since the variance of z is undefined).
    """

    n: int
    r: float | None = None
    p: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def correlate(ours: Mapping[str, float], theirs: Mapping[str, float]) -> Correlation:
    """Return the correlation over the models in both."""
    models = sorted(ours.keys() & theirs.keys())
    n = len(models)
    if n < _FEWEST:
        return Correlation(n, reason=f"{n} models have both; {_FEWEST} are needed")
    xs, ys = [ours[model] for model in models], [theirs[model] for model in models]
    r = _pearson(xs, ys)
    if r is None:
        return Correlation(n, reason="all models have the same value")
    low = high = None
    if n > _FEWEST and abs(r) < _LIMIT:
        z, width = math.atanh(r), _Z95 / math.sqrt(n - 3)
        low, high = math.tanh(z - width), math.tanh(z + width)
    return Correlation(n, r, _p(r, n), low, high)


def _pearson(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    x_mean, y_mean = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    dx, dy = [x - x_mean for x in xs], [y - y_mean for y in ys]
    scale = math.sqrt(math.fsum(d * d for d in dx)) * math.sqrt(math.fsum(d * d for d in dy))
    if len(set(xs)) == 1 or len(set(ys)) == 1 or scale == 0:
        return None
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / scale))


def _p(r: float, n: int) -> float:
    from scipy.stats import t

    if abs(r) >= _LIMIT:
        return 0.0
    return float(2 * t.sf(abs(r) * math.sqrt((n - 2) / (1 - r * r)), n - 2))
