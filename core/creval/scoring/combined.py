"""Metrics made of several metrics over the same docs (a ratio, a difference, F1, a mean), and means over groups.

Each doc's cluster holds the numerator and denominator of every part, so that resampling a doc takes all of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from creval.scoring.clusters import Clusters, Floats, as_clusters
from creval.scoring.ratio import Ratio
from creval.types.components import Aggregation

__all__ = ["AVERAGES", "COMBINATIONS", "Combined", "averaged", "joined"]

AVERAGES = ("micro", "macro", "weighted")
"""Over all docs; over groups with equal weights; over groups weighted by their number of values."""


def _harmonic(values: Floats) -> Floats:
    """Return the harmonic mean of the rows, 0 if one of them is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = len(values) / (1.0 / values).sum(axis=0)
    return cast(Floats, np.where((values == 0).any(axis=0), 0.0, found))


COMBINATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "difference": lambda values: values[0] - values[1],
    "ratio": lambda values: values[0] / values[1],
    "f1": _harmonic,
    "harmonic_mean": _harmonic,
    "mean": lambda values: cast(Floats, values.mean(axis=0)),
}


@dataclass(frozen=True)
class Combined:
    """The number that `how` computes from `parts` ratios of sums. Its interval is the bootstrap's over docs."""

    how: str
    parts_made: int

    def sums(self, clusters: Sequence[Floats]) -> Floats:
        """Return the numerator and denominator of each part for each doc, shape (2 * parts, docs)."""
        return as_clusters(clusters).values.reshape(-1, 2 * self.parts_made).T

    def of_sums(self, sums: Floats) -> Floats:
        """Return the number of sums over docs, shape (2 * parts, ...); not finite where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return COMBINATIONS[self.how](sums[::2] / sums[1::2])

    def value(self, clusters: Sequence[Floats]) -> float | None:
        """Return the number, or None if it is undefined."""
        value = float(self.of_sums(self.sums(clusters).sum(axis=1)))
        return value if math.isfinite(value) else None

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        """Return the jackknife's standard error over docs; None if the number is undefined without one of them."""
        sums = self.sums(clusters)
        left = self.of_sums(sums.sum(axis=1)[:, None] - sums)
        count = len(left)
        if count < 2 or not np.isfinite(left).all():
            return None
        return math.sqrt((count - 1) / count * float(((left - left.mean()) ** 2).sum()))


def joined(
    parts: Sequence[tuple[Aggregation, Clusters, np.ndarray[Any, Any]]],
) -> tuple[Clusters, np.ndarray[Any, Any]]:
    """Return the clusters that `Combined` uses, and the numbers of their docs in ascending order.

    Each part is an aggregation with its clusters and the number of each cluster's doc. A doc without a value in a part
    adds nothing to it.
    """
    docs = np.unique(np.concatenate([numbers for _, _, numbers in parts]))
    table = np.zeros((len(docs), 2 * len(parts)))
    for place, (aggregation, clusters, numbers) in enumerate(parts):
        rows = np.searchsorted(docs, numbers)
        table[rows, 2 * place], table[rows, 2 * place + 1] = cast(Ratio, aggregation).parts(clusters)
    offsets = np.arange(len(docs) + 1, dtype=np.int64) * table.shape[1]
    unit = parts[0][1].unit
    return Clusters(table.reshape(-1), offsets, unit), docs


def averaged(aggregation: Ratio, clusters: Clusters, groups: Sequence[str], how: str) -> Clusters:
    """Return clusters whose ratio of sums is the mean over groups; `groups` has the group of each cluster.

    A doc's weight is 1 over the sum of its group's denominators (`macro`), times the group's number of values
    (`weighted`).
    """
    if how == "micro" or not len(clusters):
        return clusters
    names, places = np.unique(np.asarray(groups, dtype=object).astype(str), return_inverse=True)
    weights = aggregation.parts(clusters)[1]
    totals = np.bincount(places, weights=weights, minlength=len(names))
    counted = np.bincount(places, weights=clusters.counts * (weights > 0), minlength=len(names))
    shares = (counted if how == "weighted" else 1.0) / np.where(totals > 0, totals, 1.0)
    return clusters.with_factors(shares[places])
