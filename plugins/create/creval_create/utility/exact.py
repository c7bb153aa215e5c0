"""The best order of a small set, which defines Eq. 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["MOST_PATHS", "exact_utility"]

MOST_PATHS = 8
"""Sets up to this size are also solved exactly."""


def exact_utility(qualities: Sequence[float], distances: np.ndarray, patience: float) -> float:
    """Return the maximum of Eq. 1 over all orders, 0 for an empty set.

    The gain of a path depends on which paths come before it, not on their order, so the best value of each subset
    follows from those with one path less: n 2^n steps instead of n!.
    """
    count = len(qualities)
    best = np.zeros(1 << count)
    for chosen in range(1, 1 << count):
        members = [place for place in range(count) if chosen >> place & 1]
        discount = patience ** (len(members) - 1)
        best[chosen] = max(
            best[chosen & ~(1 << last)]
            + discount * qualities[last] * min((distances[last, i] for i in members if i != last), default=1.0)
            for last in members
        )
    return float(best[-1])
