"""The median over samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from creval.scoring.clusters import Clusters, Floats, as_clusters
from creval.scoring.ratio import ratio_standard_error

__all__ = ["Median"]

_Z = 1.959963984540054  # the normal distribution's 97.5 % point


@dataclass(frozen=True)
class Median:
    """The middle value; of an even number of values the mean of the two in the middle.

    Its standard error is Woodruff's (1952, J. Am. Stat. Assoc. 47, 635-646): the cluster-robust interval of the
    share of values at or below the median, carried over to values by the sample's own quantiles. Below
    `minimum_clusters` docs the interval of the share would reach beyond every value seen, so there is none.
    """

    minimum_clusters: ClassVar[int] = 5

    def value(self, clusters: Sequence[Floats]) -> float | None:
        values = as_clusters(clusters).values
        return float(np.median(values)) if len(values) else None

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        grouped = as_clusters(clusters)
        middle = self.value(grouped)
        if middle is None or len(grouped) < self.minimum_clusters:
            return None
        below = grouped.sums((grouped.values <= middle).astype(np.float64))
        share_error = ratio_standard_error(below, grouped.sizes.astype(np.float64))
        if share_error is None:
            return None
        shares = np.clip([0.5 - _Z * share_error, 0.5 + _Z * share_error], 0.0, 1.0)
        low, high = np.quantile(grouped.values, shares)
        return float(high - low) / (2 * _Z)

    def resample(self, clusters: Clusters, draws: np.ndarray[Any, Any]) -> Floats:
        """Return the medians of resamples; `draws` (resamples, clusters) holds the numbers of the docs drawn."""
        sizes = clusters.sizes
        if (sizes == sizes[0]).all():
            table = clusters.values.reshape(len(clusters), int(sizes[0]))
            drawn = table[draws].reshape(len(draws), -1)
            return cast(Floats, np.median(drawn, axis=1, overwrite_input=True))
        return _weighted_medians(clusters, draws)


def _weighted_medians(clusters: Clusters, draws: np.ndarray[Any, Any]) -> Floats:
    """Medians where docs differ in size: each value counts as often as its doc was drawn."""
    order = np.argsort(clusters.values, kind="stable")
    values = clusters.values[order]
    owner = np.repeat(np.arange(len(clusters)), clusters.sizes)[order]
    medians = np.empty(len(draws))
    for index, row in enumerate(draws):
        running = np.cumsum(np.bincount(row, minlength=len(clusters))[owner])
        lower, upper = np.searchsorted(running, [(running[-1] - 1) // 2 + 1, running[-1] // 2 + 1])
        medians[index] = (values[lower] + values[upper]) / 2
    return medians
