"""Rank correlation with the paper's p, and an interval clustered by problem.

Source: paper 004, Tables 8 to 10: Spearman's rho over steps, p by the t approximation. Steps of one problem are not
independent, so the interval here resamples problems, not steps.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["COLUMNS", "Correlation", "spearman_by_problem"]

COLUMNS = ("n", "problems", "rho", "low", "high", "p")
REPLICATES = 500
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Correlation:
    """`rho` (-1 to 1) over `n` pairs of `problems` problems, its two-sided `p`, and the 95 % interval over problems.

    None if it is undefined: fewer than three pairs, or one side constant.
    """

    n: int
    problems: int
    rho: float | None
    p: float | None
    low: float | None = None
    high: float | None = None

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """Return the values of COLUMNS."""
        return (self.n, self.problems, self.rho, self.low, self.high, self.p)


def spearman_by_problem(pairs: Sequence[tuple[float, float, str]], seed: int = 0) -> Correlation:
    """Correlate two measures of the same steps (or solutions): `pairs` are (one, the other, problem)."""
    groups: dict[str, list[int]] = defaultdict(list)
    for index, (_, _, problem) in enumerate(pairs):
        groups[problem].append(index)
    x, y = np.array([pair[0] for pair in pairs], dtype=float), np.array([pair[1] for pair in pairs], dtype=float)
    found = _spearman(x, y)
    if found is None:
        return Correlation(len(pairs), len(groups), None, None)
    members = [np.array(indices) for indices in groups.values()]
    random = np.random.default_rng(seed)
    redrawn = []
    for _ in range(REPLICATES if len(members) > 1 else 0):
        chosen = np.concatenate([members[i] for i in random.integers(0, len(members), len(members))])
        one = _rho(x[chosen], y[chosen])
        if one is not None:
            redrawn.append(one)
    low, high = np.quantile(redrawn, [0.025, 0.975]) if redrawn else (None, None)
    interval = (None, None) if low is None or high is None else (float(low), float(high))
    return Correlation(len(pairs), len(groups), found[0], found[1], *interval)


def _spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float] | None:
    if len(x) < _FEWEST or (x == x[0]).all() or (y == y[0]).all():
        return None
    from scipy.stats import spearmanr

    result = spearmanr(x, y)
    return float(result.statistic), float(result.pvalue)


def _rho(x: np.ndarray, y: np.ndarray) -> float | None:
    """Return Spearman's rho only: many times faster than with its p, which a resample does not need."""
    if (x == x[0]).all() or (y == y[0]).all():
        return None
    from scipy.stats import rankdata

    one, other = rankdata(x), rankdata(y)
    one, other = one - one.mean(), other - other.mean()
    return float((one @ other) / math.sqrt((one @ one) * (other @ other)))
