"""Agreement between raters of the same units, e.g. a judge and people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Agreement",
    "agreement",
    "alpha_interval",
    "balanced_accuracy",
    "kappa",
    "krippendorff_alpha",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]
_FEWEST = 5  # with fewer docs, percentiles are meaningless
_RESAMPLES = 1_000


class Agreement(NamedTuple):
    """Agreement over `n` units, rated by people and by the judge.

    `accuracy`: the share of equal ratings. `balanced_accuracy`: the judge's accuracy within each of the people's
    classes, averaged (0 to 1; 1/classes at random). `kappa`: Cohen's, 1 for full agreement, 0 for chance. `pearson` and
    `spearman`: correlations (-1 to 1). Undefined ones (e.g. a rater gives the same rating to everything) are None.
    """

    n: int
    accuracy: float | None
    balanced_accuracy: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None


def agreement(people: Sequence[float], judge: Sequence[float]) -> Agreement:
    """Compare ratings of the same units, in the same order. Correlations need at least three."""
    if len(people) != len(judge):
        raise ValueError(f"{len(people)} ratings against {len(judge)}")
    if not people:
        return Agreement(0, None, None, None, None, None)
    accuracy = sum(a == b for a, b in zip(people, judge, strict=True)) / len(people)
    pearson = spearman = None
    if len(people) > 2 and len(set(people)) > 1 and len(set(judge)) > 1:
        from scipy import stats

        pearson = float(stats.pearsonr(people, judge).statistic)
        spearman = float(stats.spearmanr(people, judge).statistic)
    return Agreement(len(people), accuracy, balanced_accuracy(people, judge), kappa(people, judge), pearson, spearman)


def balanced_accuracy(people: Sequence[float], judge: Sequence[float]) -> float:
    """Return the judge's accuracy within each class that people used, averaged over the classes."""
    sizes = Counter(people)
    met = Counter(a for a, b in zip(people, judge, strict=True) if a == b)
    return math.fsum(met[each] / size for each, size in sizes.items()) / len(sizes)


def kappa(people: Sequence[float], judge: Sequence[float]) -> float | None:
    """Return Cohen's kappa (Cohen 1960); None if chance alone gives full agreement."""
    n = len(people)
    first, second = Counter(people), Counter(judge)
    chance = math.fsum(first[each] * second[each] for each in first) / n**2
    if chance == 1:
        return None
    equal = sum(a == b for a, b in zip(people, judge, strict=True)) / n
    return (equal - chance) / (1 - chance)


def krippendorff_alpha(raters: Sequence[Sequence[float] | Floats], level: str) -> tuple[float | None, int, int]:
    """Return (alpha, units, ratings) of `raters`, each with its rating of every unit (NaN: none).

    `level` is the difference of two ratings: `nominal` (equal or not), `ordinal` (ranks between them), `interval`
    (squared). Alpha is 1 for full agreement, 0 for chance; None if all ratings are equal. Units with a single rating do
    not count. After Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
    """
    table = _Ratings.of(raters)
    alpha = table.alpha(np.ones(len(table.counts)), level) if len(table.values) else None
    return alpha, len(table.counts), int(table.counts.sum())


def alpha_interval(
    raters: Sequence[Sequence[float] | Floats], level: str, docs: Sequence[int] | np.ndarray[Any, Any], seed: int
) -> tuple[float, float] | None:
    """Return the 95 % interval of Krippendorff's alpha: percentiles over 1,000 resamples of whole docs.

    `docs` has the doc of every unit. None with fewer than 5 docs that are rated twice, and if alpha is undefined.
    """
    table = _Ratings.of(raters)
    _, places = np.unique(np.asarray(docs)[table.kept], return_inverse=True)
    count = int(places.max()) + 1 if len(places) else 0
    if count < _FEWEST:
        return None
    random = np.random.default_rng(seed)
    draws = (np.bincount(random.integers(0, count, count), minlength=count)[places] for _ in range(_RESAMPLES))
    found = [alpha for weights in draws if (alpha := table.alpha(weights, level)) is not None]
    if not found:
        return None
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


class _Ratings(NamedTuple):
    """How often each of the `values` was given to each unit with at least two ratings; `kept` marks these units."""

    values: Floats
    counts: Floats
    kept: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def of(cls, raters: Sequence[Sequence[float] | Floats]) -> _Ratings:
        ratings = np.asarray(raters, dtype=np.float64).T
        kept = (~np.isnan(ratings)).sum(axis=1) > 1
        ratings = ratings[kept]
        rated = ~np.isnan(ratings)
        values, places = np.unique(ratings[rated], return_inverse=True)
        counts = np.zeros((len(ratings), values.size))
        np.add.at(counts, (np.nonzero(rated)[0], places), 1.0)
        return cls(values, counts, kept)

    def alpha(self, times: np.ndarray[Any, Any], level: str) -> float | None:
        """Return alpha with each unit counted `times` times; None if all ratings are equal."""
        weighted = self.counts * (times / (self.counts.sum(axis=1) - 1.0))[:, None]
        coincidences = weighted.T @ self.counts - np.diag(weighted.sum(axis=0))
        totals = coincidences.sum(axis=1)
        whole = totals.sum()
        distances = _distances(self.values, totals, level)
        expected = float((np.outer(totals, totals) * distances).sum() / (whole - 1.0))
        return 1.0 - float((coincidences * distances).sum()) / expected if expected > 0 else None


def _distances(values: Floats, totals: Floats, level: str) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(values.size)
    if level == "ordinal":
        values = np.cumsum(totals) - totals / 2.0  # their mean ranks
    return np.square(np.subtract.outer(values, values))
