"""Greedy choice of distant words (arXiv:2605.13450, Appendix D, Algorithm 1)."""

from __future__ import annotations

import numpy as np

__all__ = ["greedy"]


def greedy(
    units: np.ndarray,
    first: int | None,
    count: int,
    allowed: np.ndarray | None = None,
    before: np.ndarray | None = None,
) -> list[int]:
    """Return up to `count` row numbers of `units`, beginning with `first` (None: the best one).

    Each next row is the one of the `allowed` rows (a boolean mask; None: all) with the least mean cosine to the chosen
    rows and to the unit rows `before`, which come first in a chain. Each step updates the sums of cosines with one
    matrix-vector product, so 42,000 words take milliseconds.
    """
    sums = np.zeros(len(units), dtype=np.float32)
    if before is not None and len(before):
        sums += units @ before.sum(axis=0).astype(np.float32)
    closed = np.zeros(len(units), dtype=bool) if allowed is None else ~allowed
    chosen: list[int] = []
    while len(chosen) < count and not closed.all():
        best = int(np.argmin(np.where(closed, np.inf, sums)))
        chosen.append(first if first is not None and not chosen else best)
        closed[chosen[-1]] = True
        sums += units @ units[chosen[-1]]
    return chosen
