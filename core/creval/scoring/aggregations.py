"""Aggregations: the values of a metric, clustered by doc, become one number.

The standard error is over docs as the unit: repeats of one doc are not independent answers. For a mean over
clusters of sizes m_c with sums s_c it is the linearised (sandwich) one,
sqrt(C / (C - 1) x sum((s_c - m_c x mean)^2)) / sum(m_c), which for one value a doc is the usual s / sqrt(n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Mean", "Median", "PassAtK", "Rate"]


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of all values."""

    is_mean = True

    def value(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the mean over all values; None of none."""
        size = sum(cluster.size for cluster in clusters)
        return sum(float(cluster.sum()) for cluster in clusters) / size if size else None

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the cluster-robust standard error; None with fewer than two docs."""
        mean = self.value(clusters)
        count = len(clusters)
        if mean is None or count < 2:
            return None
        sums = np.array([cluster.sum() for cluster in clusters])
        sizes = np.array([cluster.size for cluster in clusters], dtype=np.float64)
        spread = float(((sums - sizes * mean) ** 2).sum())
        return math.sqrt(count / (count - 1) * spread) / float(sizes.sum())


@dataclass(frozen=True, slots=True)
class Rate(Mean):
    """The share of values that are above `threshold` (default: 0), 0 to 1."""

    threshold: float = 0.0
    is_mean = False

    def value(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the share; None of no values."""
        return Mean.value(self, self._hits(clusters))

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the cluster-robust standard error of the share."""
        return Mean.standard_error(Mean(), self._hits(clusters))

    def _hits(self, clusters: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [(cluster > self.threshold).astype(np.float64) for cluster in clusters]


@dataclass(frozen=True, slots=True)
class Median:
    """The median of all values. Its standard error is from a fixed bootstrap over docs."""

    is_mean = False

    def value(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the median; None of no values."""
        return float(np.median(np.concatenate(clusters))) if clusters else None

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the standard deviation of the median over 500 resamples of docs; None with fewer than two docs."""
        if len(clusters) < 2:
            return None
        stream = np.random.Generator(np.random.PCG64(0))
        draws = [
            float(np.median(np.concatenate([clusters[i] for i in stream.integers(0, len(clusters), len(clusters))])))
            for _ in range(500)
        ]
        return float(np.std(draws, ddof=1))


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The unbiased estimate of the chance that at least one of `k` answers is right, averaged over docs.

    For n repeats of a doc of which c are right (value above 0): 1 - C(n - c, k) / C(n, k). Undefined (None) where a doc
    has fewer than k repeats.
    """

    k: int = 1
    is_mean = False

    def value(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return the mean over docs; None of no docs or where a doc has fewer than k values."""
        chances = self._chances(clusters)
        return float(chances.mean()) if chances is not None and chances.size else None

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None:
        """Return s / sqrt(docs) over the docs' chances; None with fewer than two docs."""
        chances = self._chances(clusters)
        if chances is None or chances.size < 2:
            return None
        return float(chances.std(ddof=1) / math.sqrt(chances.size))

    def _chances(self, clusters: Sequence[np.ndarray]) -> np.ndarray | None:
        chances = []
        for cluster in clusters:
            n, right = cluster.size, int((cluster > 0).sum())
            if n < self.k:
                return None
            chances.append(1.0 - math.comb(n - right, self.k) / math.comb(n, self.k))
        return np.array(chances)
