"""How far two raters of the same things agree: a judge and people, or a judge and itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Agreement", "ClassAgreement", "agreement", "balanced_accuracy", "by_class", "kappa"]


class Agreement(NamedTuple):
    """Agreement over `n` things, rated by people and by the judge.

    `accuracy`: the share of equal ratings. `balanced_accuracy`: the mean over the people's classes of the share that
    the judge met (0 to 1; 1/classes by chance). `kappa`: Cohen's, 1 for full agreement, 0 for chance. `pearson` and
    `spearman`: correlations (-1 to 1). None where one is not defined: a rater who gives but one rating.
    """

    n: int
    accuracy: float | None
    balanced_accuracy: float | None
    kappa: float | None
    pearson: float | None
    spearman: float | None


class ClassAgreement(NamedTuple):
    """How the judge meets one class of people's `n` ratings of it; None where it is not defined.

    `precision`: the share of the judge's ratings of this class that people share. `recall`: the share of people's that
    the judge met. `f1`: their harmonic mean.
    """

    rating: float
    n: int
    precision: float | None
    recall: float | None
    f1: float | None


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


def by_class(people: Sequence[float], judge: Sequence[float]) -> list[ClassAgreement]:
    """Return precision, recall and F1 of every class that either rater used, the lowest first."""
    sizes, given = Counter(people), Counter(judge)
    met = Counter(a for a, b in zip(people, judge, strict=True) if a == b)
    return [
        ClassAgreement(
            each,
            sizes[each],
            met[each] / given[each] if given[each] else None,
            met[each] / sizes[each] if sizes[each] else None,
            2 * met[each] / (given[each] + sizes[each]),
        )
        for each in sorted(sizes.keys() | given.keys())
    ]


def kappa(people: Sequence[float], judge: Sequence[float]) -> float | None:
    """Return Cohen's kappa (Cohen 1960); None where chance alone gives full agreement."""
    n = len(people)
    first, second = Counter(people), Counter(judge)
    chance = math.fsum(first[each] * second[each] for each in first) / n**2
    if chance == 1:
        return None
    equal = sum(a == b for a, b in zip(people, judge, strict=True)) / n
    return (equal - chance) / (1 - chance)
