"""The aggregation `writing.strength`: a model's strength relative to the pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval.plugin import ScoreRecord
from creval_writing.bradley_terry import Table, strengths, table_of_wins

__all__ = ["Strength"]


class Strength:
    """The model's Bradley-Terry strength minus the mean of the pool's, in log-odds.

    `scores` are the shares of pairs that the model won, one score for each writer of the pool. 0: it is as good as
    the pool on average; log 2 (.69): it is preferred two times in three. Samples without a score are not counted.
    """

    def __init__(self, scores: Sequence[str]) -> None:
        self._scores = tuple(scores)
        self._rows: Table = np.empty((0, len(self._scores)))
        self._known: dict[bytes, float] = {}

    def read(self, records: Sequence[ScoreRecord]) -> None:
        """Read the scores that the values index; a missing score of a sample is NaN."""
        rows = [[record.scores.get(name, np.nan) for name in self._scores] for record in records]
        self._rows = np.asarray(rows, dtype=np.float64).reshape(-1, len(self._scores))
        self._known = {}

    def value(self, clusters: Sequence[Table]) -> float | None:
        """Return the strength over the samples of all clusters; None if a writer of the pool has no meetings."""
        if not len(clusters):
            return None
        rows = self._rows[np.concatenate(list(clusters)).astype(np.int64)]
        counts = (~np.isnan(rows)).sum(axis=0).astype(np.float64)
        if not counts.all():
            return None
        wins = np.round(np.nansum(rows, axis=0), 6)
        key = np.concatenate([wins, counts]).tobytes()
        if key not in self._known:  # resamples of few prompts often have the same sums
            found = strengths(table_of_wins(wins / counts, counts))
            self._known[key] = float(found[0] - found[1:].mean())
        return self._known[key]

    def standard_error(self, clusters: Sequence[Table]) -> float | None:
        """Return None: creval resamples the prompts."""
        return None
