"""A judge's precision, recall and F1 for each class of people's ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["ClassAgreement", "by_class"]


class ClassAgreement(NamedTuple):
    """The judge's agreement on one class, to which people gave `n` ratings; undefined numbers are None.

    `precision`: the share of the judge's ratings of this class with which people agree. `recall`: the share of people's
    ratings with which the judge agrees. `f1`: their harmonic mean.
    """

    rating: float
    n: int
    precision: float | None
    recall: float | None
    f1: float | None


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
