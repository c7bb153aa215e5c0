"""The median over samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from creval.scoring.clusters import Clusters, Floats, as_clusters
from creval.scoring.distributions import beta_cdf
from creval.scoring.ratio import effective_docs, ratio_standard_error

__all__ = ["Median"]

_ROUNDING = 1e-9
_Z = 1.959963984540054  # the normal distribution's 97.5 % point


@dataclass(frozen=True)
class Median:
    """The middle value; for an even number of values the mean of the two in the middle.

    Its interval lies between two order statistics, as in the sign test: exact with one value per doc, and not too short
    if the values of a doc depend on each other. Its standard error is Woodruff's (1952, J. Am. Stat. Assoc. 47,
    635-646): the cluster-robust interval of the share of values at or below the median, converted to values by the
    sample's quantiles. With fewer than `minimum_clusters` docs no interval would contain the median often enough.
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

    def interval(self, clusters: Sequence[Floats], confidence: float) -> tuple[float, float] | None:
        """Return the interval between two values; None if too few docs have most of the values."""
        grouped = as_clusters(clusters)
        docs = effective_docs(grouped.counts)
        if docs < self.minimum_clusters:
            return None
        values = np.sort(grouped.values)
        place = math.ceil(_order(docs, confidence) / docs * len(values) - _ROUNDING) - 1
        return float(values[place]), float(values[len(values) - 1 - place])

    def resample(self, clusters: Clusters, draws: np.ndarray[Any, Any]) -> Floats:
        """Return the medians of resamples; `draws` (resamples, clusters) holds the numbers of the docs drawn."""
        sizes = clusters.sizes
        if (sizes == sizes[0]).all():
            table = clusters.values.reshape(len(clusters), int(sizes[0]))
            drawn = table[draws].reshape(len(draws), -1)
            return cast(Floats, np.median(drawn, axis=1, overwrite_input=True))
        return _weighted_medians(clusters, draws)


def _order(docs: float, confidence: float) -> int:
    """Return the rank from either end of the values that bound the interval, so that it covers the median."""
    tail = (1 - confidence) / 2
    place = max(1, int(docs / 2 - math.sqrt(docs)) + 1)
    while place > 1 and beta_cdf(docs - place + 1, place, 0.5) > tail:
        place -= 1
    while place + 1 <= docs / 2 and beta_cdf(docs - place, place + 1, 0.5) <= tail:
        place += 1
    return place


def _weighted_medians(clusters: Clusters, draws: np.ndarray[Any, Any]) -> Floats:
    """Return medians for docs of different sizes: each value counts as often as its doc was drawn."""
    order = np.argsort(clusters.values, kind="stable")
    values = clusters.values[order]
    owner = np.repeat(np.arange(len(clusters)), clusters.sizes)[order]
    medians = np.empty(len(draws))
    for index, row in enumerate(draws):
        running = np.cumsum(np.bincount(row, minlength=len(clusters))[owner])
        lower, upper = np.searchsorted(running, [(running[-1] - 1) // 2 + 1, running[-1] // 2 + 1])
        medians[index] = (values[lower] + values[upper]) / 2
    return medians
