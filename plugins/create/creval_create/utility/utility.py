"""Creative utility of a set of paths (Eq. 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval_create.utility.greedy import Ordered, greedy, greedy_from
from creval_create.utility.rules import Discount, Rules

__all__ = ["best_order", "bound", "discounted", "utilities", "utility"]


def discounted(gains: Sequence[float], patience: float, discount: Discount = "equation") -> float:
    """Return the sum of gamma^(i-1) times the gain of the i-th path; `released` starts with gamma^0 twice."""
    late = 1 if discount == "released" else 0
    return sum(gain * patience ** max(0, place - late) for place, gain in enumerate(gains))


def best_order(qualities: Sequence[float], distances: np.ndarray, rules: Rules, patience: float) -> Ordered:
    """Return the greedy order with ties broken as the rules say."""
    found = greedy(qualities, distances)
    if rules.order == "first" or not found.order:
        return found
    most = max(qualities)
    starts = [place for place, quality in enumerate(qualities) if quality == most]
    runs = [greedy_from(qualities, distances, start) for start in starts]
    return max(runs, key=lambda run: discounted(run.gains, patience, rules.discount))


def utility(qualities: Sequence[float], distances: np.ndarray, rules: Rules, patience: float) -> float:
    """Return s(U) of the counted paths, with strengths as qualities, at one patience in [0, 1].

    The rules define the value of an empty set. The result is at most `bound`.
    """
    if not qualities:
        return 1.0 if rules.empty_set == "one" else 0.0
    return discounted(best_order(qualities, distances, rules, patience).gains, patience, rules.discount)


def utilities(
    qualities: Sequence[float], distances: np.ndarray, rules: Rules, patiences: Sequence[float]
) -> list[float]:
    """Return the utility for several patiences; the greedy order of the default rules does not depend on it."""
    if not qualities or rules.order != "first":
        return [utility(qualities, distances, rules, patience) for patience in patiences]
    gains = greedy(qualities, distances).gains
    return [discounted(gains, patience, rules.discount) for patience in patiences]


def bound(count: int, patience: float) -> float:
    """Return the upper bound for `count` paths under Eq. 1: 5 (1 - gamma^n) / (1 - gamma), 5 n at gamma 1."""
    return sum(5.0 * patience**place for place in range(count))
