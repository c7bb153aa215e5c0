"""Strengths of writers by the Bradley-Terry model, fitted by choix from a table of wins.

The log-odds that one writer is preferred to another are the difference of their strengths (Bradley and Terry 1952,
Biometrika 39, 324-345). A tie, or a pair judged differently in its two orders, is half a win for each. `PRIOR`
additional wins each way between any two writers keep the strengths finite if a writer wins or loses all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["PRIOR", "Table", "strengths", "strengths_of", "table_of_wins"]

PRIOR = 0.1
Table = np.ndarray[Any, np.dtype[np.float64]]


def strengths(wins: Table) -> Table:
    """Return the strength of each writer, with mean 0; `wins[i, j]` is how often i was preferred to j."""
    import choix

    found = choix.ilsr_pairwise_dense(wins + PRIOR * (1 - np.eye(len(wins))))
    return np.asarray(np.round(found, 9) + 0.0, dtype=np.float64)


def table_of_wins(shares: Table, counts: Table) -> Table:
    """Return the table of a first writer against each of a pool: it won `shares` of the `counts` meetings."""
    size = len(shares) + 1
    wins = np.zeros((size, size))
    wins[0, 1:] = shares * counts
    wins[1:, 0] = (1 - shares) * counts
    return wins


def strengths_of(meetings: Mapping[tuple[str, str], tuple[float, float]]) -> dict[str, float]:
    """Return the strength of each name; `meetings` has, for two names, the wins of the first and of the second."""
    names = sorted({name for pair in meetings for name in pair})
    place = {name: number for number, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for (one, other), (won, lost) in meetings.items():
        wins[place[one], place[other]] += won
        wins[place[other], place[one]] += lost
    return dict(zip(names, map(float, strengths(wins)), strict=True))
