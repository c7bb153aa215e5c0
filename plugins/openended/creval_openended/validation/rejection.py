"""Accuracy if a judge may reject unsure cases (Nadeem 2009): the area under the accuracy-rejection curve.

With equal confidences the curve is flat at the accuracy: which of them to reject first would be chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

__all__ = ["area_under_rejection", "area_under_rejection_released"]


def area_under_rejection(correct: Sequence[bool], confidence: Sequence[float]) -> float | None:
    """Return (1/n) times the sum over m of the accuracy of the m most confident verdicts; None for none.

    Verdicts of equal confidence have no order, so each counts as their mean.
    """
    if not correct:
        return None
    ordered = sorted(zip(confidence, correct, strict=True), key=lambda pair: -pair[0])
    accuracies: list[float] = []
    right, seen = 0.0, 0
    for _, tied in groupby(ordered, key=lambda pair: pair[0]):
        members = [each for _, each in tied]
        share = sum(members) / len(members)
        for _ in members:
            right += share
            seen += 1
            accuracies.append(right / seen)
    return sum(accuracies) / len(accuracies)


def area_under_rejection_released(gold: Sequence[bool], probability: Sequence[float]) -> float | None:
    """Return the area as the released code computes it; None for no verdicts.

    Verdicts are ordered by the probability of yes (not by confidence), highest first, with a cut at 0.5; the area
    is taken by trapezoids, with an accuracy of 1 if all are left out.
    """
    if not gold:
        return None
    ordered = sorted(zip(probability, gold, strict=True), key=lambda pair: -pair[0])
    right = [(p >= 0.5) == truth for p, truth in ordered]
    count = len(right)
    curve = [sum(right[: count - left]) / (count - left) for left in range(count)] + [1.0]
    return sum((one + other) / 2 for one, other in pairwise(curve)) / count
