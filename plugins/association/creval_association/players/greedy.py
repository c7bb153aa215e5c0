"""Greedy choice of distant words (arXiv:2605.13450, Appendix D, Algorithm 1)."""

from __future__ import annotations

import numpy as np

__all__ = ["greedy"]


def greedy(units: np.ndarray, first: int, count: int, allowed: np.ndarray | None = None) -> list[int]:
    """Return up to `count` row numbers of `units`, beginning with `first`.

    Each next one has the least mean cosine to those chosen, among the `allowed` rows (a boolean mask; None: all).
    Sums of cosines are kept up to date with one matrix-vector product a step, so 42,000 words take milliseconds.
    """
    sums = np.zeros(len(units), dtype=np.float32)
    closed = np.zeros(len(units), dtype=bool) if allowed is None else ~allowed
    chosen = [first]
    for _ in range(count - 1):
        sums += units @ units[chosen[-1]]
        closed[chosen[-1]] = True
        if closed.all():
            break
        chosen.append(int(np.argmin(np.where(closed, np.inf, sums))))
    return chosen
