"""Distances between paths (Eqs. 8 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from creval.plugin import Embedding

__all__ = ["OverOne", "cosine_distances", "mean_distance", "raw_distances", "transformed"]

OverOne = Literal["clamp", "wrap"]
"""Treatment of a cosine distance above 1: at most 1, or Eq. 9's first branch continued, as in the released code."""

_KNEE = 0.7


def cosine_distances(rows: np.ndarray) -> np.ndarray:
    """Return 1 - cos of all pairs of n rows, shape (n, n), float64 in [0, 2], zeros on the diagonal.

    A row of zeros has no direction and must not occur.
    """
    wide = np.asarray(rows, dtype=np.float64)
    units = wide / np.linalg.norm(wide, axis=-1, keepdims=True)
    raw: np.ndarray = np.clip(1.0 - units @ units.T, 0.0, 2.0)
    np.fill_diagonal(raw, 0.0)
    return raw


def raw_distances(strings: Sequence[str], embedding: Embedding) -> np.ndarray:
    """Return the cosine distances of all pairs of strings, shape (n, n); each distinct string is embedded once."""
    if not strings:
        return np.zeros((0, 0))
    once = list(dict.fromkeys(strings))
    row = {string: index for index, string in enumerate(once)}
    rows = [row[string] for string in strings]
    return cosine_distances(embedding.embed(once))[np.ix_(rows, rows)]


def transformed(raw: np.ndarray, over_one: OverOne = "clamp") -> np.ndarray:
    """Return g of cosine distances (Eq. 9): 0.5 (1 - cos(pi (x / 0.7)^2)) up to 0.7, then 1; any shape, in [0, 1].

    Eq. 9 ends at 1. Above it `clamp` gives 1; `wrap` continues the first branch (x = 1.05 gives 0.15), like the
    released code.
    """
    x = np.asarray(raw, dtype=np.float64)
    rises = (x <= _KNEE) if over_one == "clamp" else (x <= _KNEE) | (x > 1.0)
    result = np.ones_like(x)
    result[rises] = 0.5 - 0.5 * np.cos(np.square(x[rises]) * (np.pi / _KNEE**2))
    return result


def mean_distance(distances: np.ndarray) -> float | None:
    """Return the mean over the pairs of different paths, or None for fewer than two."""
    count = len(distances)
    if count < 2:
        return None
    return float((distances.sum() - np.trace(distances)) / (count * (count - 1)))
