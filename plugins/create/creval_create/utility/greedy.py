"""The greedy order of a set of paths (Eq. 2) and what each path adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

__all__ = ["Order", "Ordered", "greedy", "greedy_from"]

Order = Literal["first", "best_start"]
"""How ties are broken: the path that the model named first, or the tied start that gives most."""


class Ordered(NamedTuple):
    """Places of the paths in the order chosen, and what each adds: its quality times its distance to those before."""

    order: list[int]
    gains: list[float]


def greedy(qualities: Sequence[float], distances: np.ndarray) -> Ordered:
    """Order a set: next is always the path with the largest quality times least distance to those chosen.

    The first has distance 1. Among equals the one with the lowest index goes first: the model's own order.
    """
    return greedy_from(qualities, distances, None)


def greedy_from(qualities: Sequence[float], distances: np.ndarray, start: int | None) -> Ordered:
    """The same from a given first path."""
    worth = np.asarray(qualities, dtype=np.float64)
    beside = distances * worth  # row i: what each path would add next to the i-th alone
    gains = worth.copy()
    order: list[int] = []
    added: list[float] = []
    for step in range(len(worth)):
        best = start if step == 0 and start is not None else int(gains.argmax())
        order.append(best)
        added.append(float(gains[best]))
        # A path adds its quality times its least distance to those chosen; the first one starts from distance 1.
        gains = beside[best] if step == 0 else np.minimum(gains, beside[best], out=gains)
        gains[best] = -1.0  # chosen, so its row is free to be written to; whatever else is there adds at least 0
    return Ordered(order, added)
