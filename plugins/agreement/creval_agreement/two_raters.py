"""Agreement between two raters of the same units: a judge and people, or a judge and itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Agreement", "agreement", "balanced_accuracy", "kappa"]


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
