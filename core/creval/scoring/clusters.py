"""The values of one metric, grouped by independent units: docs (repeats of a doc depend on each other) or trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

__all__ = ["Clusters", "Floats", "as_clusters"]

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Clusters(Sequence[Floats]):
    """A sequence of float arrays, one per doc, stored as one array with offsets.

    `values` has shape (n,), cluster i is `values[offsets[i]:offsets[i + 1]]` and is never empty. 100,000 docs thus
    cost two arrays, while an aggregation that needs the arrays of single docs may still iterate. Without offsets (None)
    each value is a cluster, which needs no second array. `unit` is what a cluster is: `doc`, or `trial` if every value
    is a cluster. `weights`, if the metric has them, run parallel to `values`. `factors`, of shape (clusters,), weight
    each cluster as a whole, in a mean over groups of docs.
    """

    def __init__(
        self,
        values: Floats,
        offsets: np.ndarray[Any, np.dtype[np.int64]] | None,
        unit: str = "doc",
        weights: Floats | None = None,
        factors: Floats | None = None,
    ) -> None:
        self.values = values
        self.unit = unit
        self.weights = weights
        self.factors = factors
        self._offsets = offsets

    @classmethod
    def trials(cls, values: Sequence[float] | Floats, weights: Floats | None = None) -> Clusters:
        """Make every value a cluster."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, None, "trial", weights)

    @classmethod
    def group(
        cls,
        values: Sequence[float] | Floats,
        labels: Sequence[int] | np.ndarray[Any, Any],
        weights: Floats | None = None,
        unit: str = "doc",
    ) -> Clusters:
        """Group values by the number of their doc (or of its group); clusters are in the order of these numbers."""
        array = np.asarray(values, dtype=np.float64)
        numbers = np.asarray(labels)
        if (numbers[1:] < numbers[:-1]).any():
            order = np.argsort(numbers, kind="stable")
            array, numbers, weights = array[order], numbers[order], None if weights is None else weights[order]
        differs = numbers[1:] != numbers[:-1]
        if differs.all():
            return cls(array, None, unit, weights)
        changes = np.flatnonzero(differs)
        offsets = np.zeros(len(changes) + 2, dtype=np.int64)
        offsets[1:-1] = changes + 1
        offsets[-1] = len(array)
        return cls(array, offsets, unit, weights)

    @property
    def offsets(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The start of each cluster among the values, and the end of the last one, shape (clusters + 1,)."""
        return np.arange(len(self.values) + 1, dtype=np.int64) if self._offsets is None else self._offsets

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The number of values of each cluster, shape (clusters,); do not write to it."""
        if self._offsets is None:
            return np.broadcast_to(np.int64(1), len(self.values))  # no memory
        return np.diff(self._offsets)

    @property
    def counts(self) -> Floats:
        """The sizes as floats; do not write to it."""
        if self._offsets is None:
            return np.broadcast_to(np.float64(1), len(self.values))
        return self.sizes.astype(np.float64)

    def sums(self, per_value: Floats) -> Floats:
        """Sum an array that runs parallel to `values` over each cluster, shape (clusters,)."""
        if self._offsets is None:
            return per_value.astype(np.float64, copy=False)
        return np.add.reduceat(per_value, self._offsets[:-1]).astype(np.float64, copy=False)

    def copied(self) -> Clusters:
        """Return a copy with its own values and weights."""
        weights = None if self.weights is None else self.weights.copy()
        return Clusters(self.values.copy(), self._offsets, self.unit, weights, self.factors)

    def with_factors(self, factors: Floats) -> Clusters:
        """Return the same clusters with these factors."""
        return Clusters(self.values, self._offsets, self.unit, self.weights, factors)

    def replaced(self, values: Floats) -> Clusters:
        """Return the same clusters with other values."""
        return Clusters(values, self._offsets, self.unit, self.weights)

    def of_size(self, least: int) -> Clusters:
        """Return the clusters with at least `least` values."""
        if least <= 1:
            return self
        return self.chosen(self.sizes >= least)

    def chosen(self, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> Clusters:
        """Return the clusters for which an array of shape (clusters,) is true."""
        if keep.all():
            return self
        factors = None if self.factors is None else self.factors[keep]
        if self._offsets is None:
            weights = None if self.weights is None else self.weights[keep]
            return Clusters(self.values[keep], None, self.unit, weights, factors)
        of_value = np.repeat(keep, self.sizes)
        weights = None if self.weights is None else self.weights[of_value]
        offsets = np.r_[0, np.cumsum(self.sizes[keep])].astype(np.int64)
        return Clusters(self.values[of_value], offsets, self.unit, weights, factors)

    def __len__(self) -> int:
        return len(self.values) if self._offsets is None else len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Floats: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Floats]: ...

    def __getitem__(self, index: int | slice) -> Floats | Sequence[Floats]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        if self._offsets is None:
            return self.values[index : index + 1]
        return self.values[self._offsets[index] : self._offsets[index + 1]]


def as_clusters(clusters: Sequence[Floats]) -> Clusters:
    """Return any sequence of arrays as Clusters."""
    if isinstance(clusters, Clusters):
        return clusters
    sizes = [len(cluster) for cluster in clusters]
    values = np.concatenate([np.asarray(c, np.float64) for c in clusters]) if sizes else np.zeros(0)
    return Clusters(values, np.r_[0, np.cumsum(sizes)].astype(np.int64))
