"""Correlations of columns with each other, each pair on the models that have both (Figure 4, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from creval_validity.stats.correlation import p_value, pearson
from creval_validity.stats.sample import is_constant
from creval_validity.tables.score_table import ScoreTable

__all__ = ["CorrelationMatrix", "PairCorrelation", "correlation_matrix", "pair_correlation"]

_FEWEST = 4


@dataclass(frozen=True, slots=True)
class PairCorrelation:
    """Pearson's r of two columns over the `n` models that have both; r and p are None if there is none."""

    x: str
    y: str
    n: int
    r: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class CorrelationMatrix:
    """All pairs of `names`, row by row; the diagonal has r = 1."""

    names: tuple[str, ...]
    pairs: tuple[PairCorrelation, ...]

    def cell(self, x: str, y: str) -> PairCorrelation:
        """Return the pair of a row and a column."""
        size = len(self.names)
        return self.pairs[self.names.index(x) * size + self.names.index(y)]


def pair_correlation(table: ScoreTable, x: str, y: str) -> PairCorrelation:
    """Correlate two columns. With fewer than four common models or no variance, r is None but n is set."""
    both = table.pool((x, y))
    n = int(both.sum())
    a, b = table.column(x)[both], table.column(y)[both]
    if n < _FEWEST or is_constant(a) or is_constant(b):
        return PairCorrelation(x, y, n, None, None)
    if x == y:
        return PairCorrelation(x, y, n, 1.0, 0.0)
    r = pearson(a, b)
    return PairCorrelation(x, y, n, r, p_value(r, n)[1])


def correlation_matrix(table: ScoreTable, names: Sequence[str]) -> CorrelationMatrix:
    """Correlate every pair of columns."""
    return CorrelationMatrix(tuple(names), tuple(pair_correlation(table, x, y) for x in names for y in names))
