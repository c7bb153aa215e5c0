"""Aggregations over groups of docs that ask one thing in several words: all right, or the same every time.

A metric that names its `group` has one cluster a group. `all` is the group accuracy of BrainTeaser (Jiang et al. 2023,
arXiv:2310.05057, section 4.1: a group counts where every question of it is answered right).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from creval.scoring.clusters import Clusters, Floats
from creval.scoring.ratio import Ratio

__all__ = ["All", "Consistency"]


@dataclass(frozen=True)
class All(Ratio):
    """The share of groups of which every score is at least `at_least`."""

    share: ClassVar[bool] = True

    at_least: float = 1.0

    def parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        hits = clusters.sums((clusters.values >= self.at_least).astype(np.float64))
        return (hits == clusters.sizes).astype(np.float64), np.ones(len(clusters))


@dataclass(frozen=True)
class Consistency(Ratio):
    """The chance that two docs of a group end alike: both with a score of at least `at_least`, or both below it.

    Of a group with n docs of which h reach it: (C(h, 2) + C(n-h, 2)) / C(n, 2), averaged over the groups. A group of
    one doc says nothing and is left out.
    """

    share: ClassVar[bool] = True

    at_least: float = 1.0

    def parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        sizes = clusters.sizes.astype(np.float64)
        hits = clusters.sums((clusters.values >= self.at_least).astype(np.float64))
        alike = (hits * (hits - 1) + (sizes - hits) * (sizes - hits - 1)) / 2
        pairs = sizes * (sizes - 1) / 2
        several = sizes > 1
        return np.where(several, alike / np.where(several, pairs, 1.0), 0.0), several.astype(np.float64)
