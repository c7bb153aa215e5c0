"""Aggregations that are a ratio of two sums over docs: mean, rate, pass@k.

With a doc's numerator y_i and denominator x_i the estimate is r = sum y_i / sum x_i. Its standard error is that of the
jackknife which leaves out one doc at a time (CR3: MacKinnon and White 1985, J. Econometrics 29, 305-325; Bell and
McCaffrey 2002, Survey Methodology 28, 169-181), and its degrees of freedom are Satterthwaite's, for independent values
of equal variance. With docs of one size these are the textbook s / sqrt(C) and C - 1; if few docs have most of the
weight, the error is larger and the degrees are fewer.

`all` and `consistency` aggregate over groups of docs that ask the same in different words.

A metric with a `group` has one cluster per group. `all` is the group accuracy of BrainTeaser (Jiang et al. 2023,
arXiv:2310.05057, section 4.1: a group counts if every question of it is answered right).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from creval.errors import UsageError
from creval.scoring.clusters import Clusters, Floats, as_clusters

__all__ = [
    "All",
    "Consistency",
    "Mean",
    "PassAtK",
    "Rate",
    "Ratio",
    "degrees_of_freedom",
    "effective_docs",
    "ratio_standard_error",
]


_BLOCK = 1 << 17

_WHOLE = 1 - 1e-12  # of the weight: one doc has it all


def ratio_standard_error(numerators: Floats, denominators: Floats) -> float | None:
    """Return the jackknife's standard error of sum/sum; None for fewer than two docs, or if one has all the weight."""
    used = denominators > 0
    count = int(used.sum())
    if count < 2:
        return None
    y, x = (numerators, denominators) if count == len(used) else (numerators[used], denominators[used])
    total = float(x.sum())
    if float(x.max()) >= total * _WHOLE:
        return None
    squares = 0.0
    ratio = float(y.sum()) / total
    for block in _blocks(len(y)):
        changes = (y[block] - ratio * x[block]) / (total - x[block])
        squares += float(changes @ changes)
    return math.sqrt((count - 1) / count * squares)


def degrees_of_freedom(denominators: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of that error: C - 1 over C docs of one size, else fewer.

    With h_i = x_i / sum x: (sum h/(1-h))^2 / ((sum h^2/(1-h)^2)^2 + sum h^2 (1-2h)/(1-h)^4).
    """
    total = float(denominators.sum())
    first = second = third = 0.0
    for block in _blocks(len(denominators)):
        share = denominators[block] / total
        rest = 1.0 - share
        first += float((share / rest).sum())
        second += float(((share / rest) ** 2).sum())
        third += float((share**2 * (1.0 - 2.0 * share) / rest**4).sum())
    return first**2 / (second**2 + third)


def effective_docs(denominators: Floats) -> float:
    """Return the equivalent number of docs of equal size: (sum x)^2 / sum x^2 (Kish 1965, Survey Sampling)."""
    return float(denominators.sum()) ** 2 / float(denominators @ denominators)


def _blocks(count: int) -> Iterator[slice]:
    """Yield slices of an array, so that a million docs need no further array of their size."""
    for start in range(0, count, _BLOCK):
        yield slice(start, start + _BLOCK)


@dataclass(frozen=True)
class Ratio(ABC):
    """Base class; a subclass defines a doc's numerator and denominator.

    `share`: the number is a share of successes, whatever the scores are, so it lies in 0 to 1.
    """

    share: ClassVar[bool] = False

    @abstractmethod
    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        """Return each doc's numerator and denominator, both of shape (clusters,), without the clusters' factors."""

    def parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        """Return each doc's numerator and denominator, both of shape (clusters,)."""
        numerators, denominators = self.own_parts(clusters)
        if clusters.factors is None:
            return numerators, denominators
        return numerators * clusters.factors, denominators * clusters.factors

    def value(self, clusters: Sequence[Floats]) -> float | None:
        numerators, denominators = self.parts(as_clusters(clusters))
        total = float(denominators.sum())
        return float(numerators.sum()) / total if total > 0 else None

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        return ratio_standard_error(*self.parts(as_clusters(clusters)))

    def degrees_of_freedom(self, clusters: Sequence[Floats]) -> float:
        """Return those of the standard error."""
        return degrees_of_freedom(self.parts(as_clusters(clusters))[1])

    def effective_docs(self, clusters: Sequence[Floats]) -> float:
        """Return the equivalent number of docs of equal size."""
        return effective_docs(self.parts(as_clusters(clusters))[1])


@dataclass(frozen=True)
class Mean(Ratio):
    """The mean over samples. A doc with more repeats weighs more, as each sample counts once, or by its weight."""

    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        if clusters.weights is not None:
            return clusters.sums(clusters.values * clusters.weights), clusters.sums(clusters.weights)
        return clusters.sums(clusters.values), clusters.counts


@dataclass(frozen=True)
class Rate(Ratio):
    """The share of samples whose score is at least `at_least`."""

    share: ClassVar[bool] = True

    at_least: float = 1.0

    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        hits = (clusters.values >= self.at_least).astype(np.float64)
        return clusters.sums(hits), clusters.counts


@dataclass(frozen=True)
class PassAtK(Ratio):
    """The chance that at least one of `k` answers to a doc succeeds, averaged over docs.

    Per doc with n tries and c successes the unbiased estimate 1 - C(n-c, k) / C(n, k) (Chen et al. 2021,
    arXiv:2107.03374, Eq. 1). A try succeeds when its score is at least `at_least`. A doc with fewer than k tries has
    no estimate and is left out; `minimum_repeats` lets a plan refuse a task that would have none.
    """

    share: ClassVar[bool] = True

    k: int = 1
    at_least: float = 1.0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"pass@k needs a k of 1 or more, not {self.k}", where="aggregation pass@k")

    @property
    def minimum_repeats(self) -> int:
        return self.k

    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        tries = clusters.sizes
        successes = clusters.sums((clusters.values >= self.at_least).astype(np.float64)).astype(np.int64)
        pairs, index = np.unique(np.stack([tries, successes]), axis=1, return_inverse=True)
        chances = np.array([self._chance(int(n), int(c)) for n, c in pairs.T])
        enough = (tries >= self.k).astype(np.float64)
        return (chances[index.reshape(-1)] if len(chances) else np.zeros(0)), enough

    def _chance(self, n: int, c: int) -> float:
        if n < self.k:
            return 0.0
        return 1.0 - math.comb(n - c, self.k) / math.comb(n, self.k)


@dataclass(frozen=True)
class All(Ratio):
    """The share of groups of which every score is at least `at_least`."""

    share: ClassVar[bool] = True

    at_least: float = 1.0

    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        hits = clusters.sums((clusters.values >= self.at_least).astype(np.float64))
        return (hits == clusters.sizes).astype(np.float64), np.ones(len(clusters))


@dataclass(frozen=True)
class Consistency(Ratio):
    """The chance that two docs of a group have the same outcome: both scores reach `at_least`, or neither does.

    Of a group with n docs of which h reach it: (C(h, 2) + C(n-h, 2)) / C(n, 2), averaged over the groups. A group of
    one doc is left out.
    """

    share: ClassVar[bool] = True

    at_least: float = 1.0

    def own_parts(self, clusters: Clusters) -> tuple[Floats, Floats]:
        sizes = clusters.sizes.astype(np.float64)
        hits = clusters.sums((clusters.values >= self.at_least).astype(np.float64))
        alike = (hits * (hits - 1) + (sizes - hits) * (sizes - hits - 1)) / 2
        pairs = sizes * (sizes - 1) / 2
        several = sizes > 1
        return np.where(several, alike / np.where(several, pairs, 1.0), 0.0), several.astype(np.float64)
