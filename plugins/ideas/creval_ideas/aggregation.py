"""Aggregations over several scores of each idea: LiveIdeaBench's flexibility, and its average of all dimensions.

Sources: the README and `stats.ipynb` of github.com/x66ccff/liveideabench (a quantile of .3 as in pandas, by
linear interpolation), and its `results/LiveIdeaBench-202412.csv`. The notebook that computed the published flexibility
(`stats_flexibility.ipynb`) was not available. We infer from the published values that single ideas are averaged,
including their fluency: all twenty are multiples of one ninth, as are means of two scores by three judges and one
letter. The notebook's rows (idea and judge, without the letter) would give halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from creval.plugin import ScoreRecord

__all__ = ["Average", "Flexibility", "average_of"]

_SCORES = ("originality", "feasibility", "clarity", "fluency")
Table = np.ndarray[Any, np.dtype[np.float64]]


class _OfIdeas:
    """An aggregation over the scores of ideas: the values passed to `value` are indices of records."""

    def __init__(self, scores: Sequence[str] = _SCORES, quantile: float = 0.3) -> None:
        self._scores = tuple(scores)
        self._quantile = quantile
        self._table: Table = np.empty((0, len(self._scores)))

    def read(self, records: Sequence[ScoreRecord]) -> None:
        """Read the scores that the values index; a missing score of an idea is NaN."""
        rows = [[record.scores.get(name, np.nan) for name in self._scores] for record in records]
        self._table = np.asarray(rows, dtype=np.float64).reshape(-1, len(self._scores))

    def value(self, clusters: Sequence[Table]) -> float | None:
        """Return the number over the ideas of all clusters; None if there is none."""
        if not len(clusters):
            return None
        return self.of_ideas(self._table[np.concatenate(list(clusters)).astype(np.int64)])

    def standard_error(self, clusters: Sequence[Table]) -> float | None:
        """Return None: creval resamples the keywords."""
        return None

    def of_ideas(self, table: Table) -> float | None:
        """Return the number of a table with a row for each idea and a column for each score."""
        raise NotImplementedError

    def flexibility(self, table: Table) -> float | None:
        """Return the quantile of the ideas' mean scores, over the ideas that have all scores."""
        whole = table[~np.isnan(table).any(axis=1)]
        return float(np.quantile(whole.mean(axis=1), self._quantile)) if len(whole) else None


class Flexibility(_OfIdeas):
    """The `quantile` (linear interpolation) over ideas of the mean of an idea's `scores`: how good the worse are.

    The scores of an idea are already means over its judges. With .3 the best seven tenths of the ideas reach it: it is
    low for a model with good ideas in some fields only. Ideas with a missing score are left out.
    """

    def of_ideas(self, table: Table) -> float | None:
        """Return the quantile."""
        return self.flexibility(table)


class Average(_OfIdeas):
    """The unweighted mean of the means of all `scores` and of the flexibility: the published ranking.

    Each mean is over the ideas that have the score and originality. Undefined if one part is.
    """

    def of_ideas(self, table: Table) -> float | None:
        """Return the mean of the parts."""
        last = self.flexibility(table)
        if last is None:  # no idea has all scores, so some part may be undefined
            return None
        return average_of([*np.nanmean(table, axis=0), last])


def average_of(parts: Sequence[float]) -> float:
    """Return the unweighted mean over all dimensions."""
    return float(np.mean(parts))
