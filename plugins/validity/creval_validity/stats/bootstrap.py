"""Bootstrap intervals of validity and specificity: each draw resamples models and refits the regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from creval.plugin import UsageError
from creval_validity.stats.correlation import Interval
from creval_validity.stats.moments import batch_correlations
from creval_validity.stats.sample import FloatArray, PairedSample

__all__ = ["Bootstrap", "bootstrap_intervals", "resampled"]

_CHUNK = 4_000_000  # floats in memory at once


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Bootstrap settings: `draws` samples of the models with replacement, from `seed`; percentile intervals."""

    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.draws < 100 or self.draws > 1_000_000:
            raise UsageError(f"{self.draws} bootstrap draws are outside 100 to 1000000", fix="Use 2000.")
        if not 0.0 < self.confidence < 1.0:
            raise UsageError(f"a confidence of {self.confidence} is not between 0 and 1", fix="Write 0.95 for 95 %.")


def resampled(sample: PairedSample, bootstrap: Bootstrap) -> tuple[FloatArray, FloatArray]:
    """Return validity and specificity of every draw; NaN if a draw has no variance or dependent controls."""
    generator = np.random.default_rng(bootstrap.seed)
    columns = np.column_stack([sample.x, sample.y, sample.controls])
    rows = max(1, _CHUNK // (sample.n * (sample.k + 3)))
    parts: list[tuple[FloatArray, FloatArray]] = []
    left = bootstrap.draws
    while left > 0:
        size = min(rows, left)
        parts.append(batch_correlations(columns[generator.integers(0, sample.n, size=(size, sample.n))]))
        left -= size
    return np.concatenate([v for v, _ in parts]), np.concatenate([s for _, s in parts])


def bootstrap_intervals(sample: PairedSample, bootstrap: Bootstrap) -> tuple[Interval | None, Interval | None]:
    """Return percentile intervals of validity and specificity.

    A draw in which a column does not vary or the controls are dependent has no correlation and is left
    out; an interval is None if fewer than half of the draws remain. `draws` of the interval is the number
    of draws used. The same seed gives the same interval.
    """
    valid, specific = resampled(sample, bootstrap)
    return _interval(valid, bootstrap), _interval(specific, bootstrap)


def _interval(values: FloatArray, bootstrap: Bootstrap) -> Interval | None:
    usable = values[np.isfinite(values)]
    if len(usable) < bootstrap.draws / 2:
        return None
    tail = (1.0 - bootstrap.confidence) / 2
    low, high = np.quantile(usable, [tail, 1.0 - tail])
    return Interval(float(low), float(high), bootstrap.confidence, "bootstrap", len(usable))
