"""The greedy order of a set of paths (Eq. 2) and the gain of each path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

__all__ = ["Order", "Ordered", "greedy", "greedy_from"]

Order = Literal["first", "best_start"]
"""How ties are broken: the path that the model named first, or the tied start with the largest result."""


class Ordered(NamedTuple):
    """Indices of the paths in the chosen order, and their gains: quality times distance to those before."""

    order: list[int]
    gains: list[float]


def greedy(qualities: Sequence[float], distances: np.ndarray) -> Ordered:
    """Order a set: the next path always has the largest quality times least distance to those chosen.

    The first has distance 1. Among equals the one with the lowest index goes first: the model's own order.
    """
    return greedy_from(qualities, distances, None)


def greedy_from(qualities: Sequence[float], distances: np.ndarray, start: int | None) -> Ordered:
    """Return the greedy order from a given first path."""
    worth = np.asarray(qualities, dtype=np.float64)
    pair_gains = distances * worth  # row i: the gain of each path next to only the i-th
    gains = worth.copy()
    order: list[int] = []
    added: list[float] = []
    for step in range(len(worth)):
        best = start if step == 0 and start is not None else int(gains.argmax())
        order.append(best)
        added.append(float(gains[best]))
        # The gain is the quality times the least distance to those chosen; the first path has distance 1.
        gains = pair_gains[best] if step == 0 else np.minimum(gains, pair_gains[best], out=gains)
        gains[best] = -1.0  # chosen, so its row may be overwritten; all other gains are at least 0
    return Ordered(order, added)
