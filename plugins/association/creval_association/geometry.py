"""Distances between words: the formulas shared by the association tests."""

from __future__ import annotations

import numpy as np

__all__ = ["chain_distance", "mean_pairwise_distance", "unit"]


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows scaled to length 1 in float64, shape (n, d). Rows must not be all zeros."""
    wide = np.asarray(rows, dtype=np.float64)
    return np.asarray(wide / np.linalg.norm(wide, axis=-1, keepdims=True))


def mean_pairwise_distance(units: np.ndarray) -> float:
    """Return the mean of 1 - cos over all ordered pairs i != j of k >= 2 unit rows; range [0, 2].

    100 times this is DAT, CDAT-N and, over the survivors, DRAT (arXiv:2605.13450, Eqs. 1, 2 and 9). The sum of all
    cosines is the squared length of the sum of the rows, so there is no loop over pairs.
    """
    count = len(units)
    total = units.sum(axis=0)
    cosines = (float(total @ total) - float(np.einsum("ij,ij->", units, units))) / (count * (count - 1))
    return 1.0 - cosines


def chain_distance(units: np.ndarray) -> float:
    """Return PACE of one chain of L >= 2 unit rows: the average, over all words but the first, of the mean of 1 - cos
    to all earlier words (arXiv:2605.13450, Eq. 4); range [0, 2].
    """
    before = np.cumsum(units, axis=0)[:-1]
    counts = np.arange(1, len(units))
    return float(np.mean(1.0 - np.einsum("ij,ij->i", units[1:], before) / counts))
