"""The values of one metric, grouped by what is independent: docs, as the repeats of one doc are not, or trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

__all__ = ["Clusters", "Floats", "as_clusters"]

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Clusters(Sequence[Floats]):
    """A sequence of float arrays, one a doc, stored as one array with offsets.

    `values` has shape (n,), cluster i is `values[offsets[i]:offsets[i + 1]]` and is never empty. 100,000 docs thus
    cost two arrays, while an aggregation that wants the arrays of single docs may still iterate. `unit` says what a
    cluster is: `doc`, or `trial` where every value is one of its own. `weights`, where the metric has them, run
    parallel to `values`.
    """

    def __init__(
        self,
        values: Floats,
        offsets: np.ndarray[Any, np.dtype[np.int64]],
        unit: str = "doc",
        weights: Floats | None = None,
    ) -> None:
        self.values = values
        self.offsets = offsets
        self.unit = unit
        self.weights = weights

    @classmethod
    def trials(cls, values: Sequence[float] | Floats, weights: Floats | None = None) -> Clusters:
        """Take every value as a cluster of its own."""
        array = np.asarray(values, dtype=np.float64)
        return cls(array, np.arange(len(array) + 1, dtype=np.int64), "trial", weights)

    @classmethod
    def group(
        cls,
        values: Sequence[float] | Floats,
        labels: Sequence[int] | np.ndarray[Any, Any],
        weights: Floats | None = None,
        unit: str = "doc",
    ) -> Clusters:
        """Group values by the number of their doc (or of its group); clusters come in the order of these numbers."""
        array = np.asarray(values, dtype=np.float64)
        numbers = np.asarray(labels)
        if (numbers[1:] < numbers[:-1]).any():
            order = np.argsort(numbers, kind="stable")
            array, numbers, weights = array[order], numbers[order], None if weights is None else weights[order]
        changes = np.flatnonzero(numbers[1:] != numbers[:-1])
        offsets = np.zeros(len(changes) + 2 if len(numbers) else 1, dtype=np.int64)
        offsets[1:-1] = changes + 1
        offsets[-1] = len(array)
        return cls(array, offsets, unit, weights)

    @property
    def sizes(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many values each cluster has, shape (clusters,)."""
        return np.diff(self.offsets)

    def sums(self, per_value: Floats) -> Floats:
        """Sum an array that runs parallel to `values` over each cluster, shape (clusters,)."""
        if not len(self):
            return np.zeros(0)
        return np.add.reduceat(per_value, self.offsets[:-1]).astype(np.float64, copy=False)

    def of_size(self, least: int) -> Clusters:
        """Leave out the clusters with fewer than `least` values."""
        return self.chosen(self.sizes >= least)

    def chosen(self, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> Clusters:
        """Keep the clusters for which an array of shape (clusters,) is true."""
        if keep.all():
            return self
        of_value = np.repeat(keep, self.sizes)
        weights = None if self.weights is None else self.weights[of_value]
        offsets = np.r_[0, np.cumsum(self.sizes[keep])].astype(np.int64)
        return Clusters(self.values[of_value], offsets, self.unit, weights)

    def __len__(self) -> int:
        return len(self.offsets) - 1

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
        return self.values[self.offsets[index] : self.offsets[index + 1]]


def as_clusters(clusters: Sequence[Floats]) -> Clusters:
    """Return any sequence of arrays as Clusters."""
    if isinstance(clusters, Clusters):
        return clusters
    sizes = [len(cluster) for cluster in clusters]
    values = np.concatenate([np.asarray(c, np.float64) for c in clusters]) if sizes else np.zeros(0)
    return Clusters(values, np.r_[0, np.cumsum(sizes)].astype(np.int64))
