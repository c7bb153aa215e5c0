"""Aggregations over several scores of each idea: LiveIdeaBench's flexibility, and its average of all dimensions.

Sources: the README and `stats.ipynb` of github.com/x66ccff/liveideabench (a quantile of .3 as pandas makes it, by
linear interpolation), and its `results/LiveIdeaBench-202412.csv`. The notebook that computed the published flexibility
(`stats_flexibility.ipynb`) was not at hand. That single ideas are averaged, and with their fluency, is read off the
published values: all twenty are whole ninths, as means of two scores by three judges and one letter are. Those of the
notebook's own rows (idea and judge, without the letter) would be halves.
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
    """An aggregation over the scores of ideas: the values given to `value` are numbers of records."""

    def __init__(self, scores: Sequence[str] = _SCORES, quantile: float = 0.3) -> None:
        self._scores = tuple(scores)
        self._quantile = quantile
        self._table: Table = np.empty((0, len(self._scores)))

    def read(self, records: Sequence[ScoreRecord]) -> None:
        """Take the scores that the values stand for; a score that an idea lacks is NaN."""
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
    """The `quantile` (linear interpolation) over ideas of the mean of an idea's `scores`: how good the worse ones are.

    The scores of an idea are means over its judges already. With .3 the best seven tenths of the ideas reach it: a
    model that has ideas in some fields only has a low one. Ideas that lack one of the scores are left out.
    """

    def of_ideas(self, table: Table) -> float | None:
        """Return the quantile."""
        return self.flexibility(table)


class Average(_OfIdeas):
    """The mean of the means of all `scores` and of the flexibility, each counted alike: the published ranking.

    Each mean is over the ideas that have the score and originality. Undefined where one part is.
    """

    def of_ideas(self, table: Table) -> float | None:
        """Return the mean of the parts."""
        last = self.flexibility(table)
        if last is None:  # no idea with all scores: some part may have none
            return None
        return average_of([*np.nanmean(table, axis=0), last])


def average_of(parts: Sequence[float]) -> float:
    """Return the mean of the numbers of all dimensions, each counted alike."""
    return float(np.mean(parts))
