"""What the values of a metric can be."""

from __future__ import annotations

from dataclasses import dataclass

from creval.scoring.clusters import Clusters
from creval.types.components import Aggregation

__all__ = ["ANY", "Scale"]

_ROUNDING = 1e-6  # vectors are of single precision, so a cosine may be that much above 1


@dataclass(frozen=True, slots=True)
class Scale:
    """From `low` to `high` (None: no bound); `binary`: each score is 0 or 1."""

    low: float | None = None
    high: float | None = None
    binary: bool = False

    def of(self, aggregation: Aggregation) -> Scale:
        """Return the scale of the aggregated number: a share of successes is binary whatever the scores are."""
        return Scale(0.0, 1.0, True) if self.binary or getattr(aggregation, "share", False) else self

    def outside(self, clusters: Clusters) -> float | None:
        """Return a value that lies outside, None where all lie within."""
        lowest, highest = float(clusters.values.min()), float(clusters.values.max())
        if self.low is not None and lowest < self.low - _ROUNDING * max(1.0, abs(self.low)):
            return lowest
        above = self.high is not None and highest > self.high + _ROUNDING * max(1.0, abs(self.high))
        return highest if above else None


ANY = Scale()
"""Nothing is known of the values."""
