"""How far two raters of the same things agree: a judge and people, or a judge and itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "Agreement",
    "agreement",
    "balanced_accuracy",
    "kappa",
    "krippendorff_alpha",
]

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Agreement(NamedTuple):
    """Agreement over `n` things, rated by people and by the judge.

    `accuracy`: the share of equal ratings. `balanced_accuracy`: the mean over the people's classes of the share that
    the judge met (0 to 1; 1/classes at random). `kappa`: Cohen's, 1 for full agreement, 0 for chance. `pearson` and
    `spearman`: correlations (-1 to 1). None where one is not defined: a rater who gives but one rating.
    """

    n: int
    accuracy: float | None
    balanced_accuracy: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None


def agreement(people: Sequence[float], judge: Sequence[float]) -> Agreement:
    """Compare ratings of the same things, in the same order. Correlations need at least three."""
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
    """Return the mean, over the classes that people used, of the share of each that the judge met."""
    sizes = Counter(people)
    met = Counter(a for a, b in zip(people, judge, strict=True) if a == b)
    return math.fsum(met[each] / size for each, size in sizes.items()) / len(sizes)


def kappa(people: Sequence[float], judge: Sequence[float]) -> float | None:
    """Return Cohen's kappa (Cohen 1960); None where chance alone gives full agreement."""
    n = len(people)
    first, second = Counter(people), Counter(judge)
    chance = math.fsum(first[each] * second[each] for each in first) / n**2
    if chance == 1:
        return None
    equal = sum(a == b for a, b in zip(people, judge, strict=True)) / n
    return (equal - chance) / (1 - chance)


def krippendorff_alpha(raters: Sequence[Sequence[float] | Floats], level: str) -> tuple[float | None, int, int]:
    """Return (alpha, units, ratings) of `raters`, each with its rating of every unit (NaN: none).

    `level` says how two ratings differ: `nominal` (equal or not), `ordinal` (ranks between them), `interval` (squared).
    Alpha is 1 for full agreement, 0 for chance; None where no two ratings differ at all. Units with a single rating do
    not count. After Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
    """
    ratings = np.asarray(raters, dtype=np.float64).T
    ratings = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    rated = ~np.isnan(ratings)
    values, places = np.unique(ratings[rated], return_inverse=True)
    if not values.size:
        return None, 0, 0
    counts = np.zeros((len(ratings), values.size))
    np.add.at(counts, (np.nonzero(rated)[0], places), 1.0)
    weights = 1.0 / (counts.sum(axis=1) - 1.0)
    coincidences = (counts * weights[:, None]).T @ counts - np.diag((counts * weights[:, None]).sum(axis=0))
    totals = coincidences.sum(axis=1)
    whole = totals.sum()
    distances = _distances(values, totals, level)
    expected = float((np.outer(totals, totals) * distances).sum() / (whole - 1.0))
    alpha = 1.0 - float((coincidences * distances).sum()) / expected if expected > 0 else None
    return alpha, len(ratings), int(rated.sum())


def _distances(values: Floats, totals: Floats, level: str) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(values.size)
    if level == "ordinal":
        values = np.cumsum(totals) - totals / 2.0  # their mean ranks
    return np.square(np.subtract.outer(values, values))
