"""lm-eval's own aggregations and standard errors as aggregations of creval."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from creval.plugin import ScoreRecord
from creval_lmeval.library import load_task, quiet
from creval_lmeval.scorer import VALUES
from creval_lmeval.shapes import SLOW

__all__ = ["LmEvalAggregation", "LmEvalError", "MeanError"]

ITERATIONS = 1000
"""Draws of lm-eval's bootstrap if the task file states none; lm-eval's command draws 100,000."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


class MeanError:
    """The standard error of the mean of independent values, s / sqrt(n); lm-eval's `mean_stderr`."""

    def value(self, clusters: Sequence[Floats]) -> float | None:
        """Return the standard error, None below two values."""
        values = np.concatenate([np.asarray(each, np.float64) for each in clusters])
        return None if len(values) < 2 else float(values.std(ddof=1)) / math.sqrt(len(values))

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        """Return None: the error of an error is not needed."""
        return None


class _OfRecords:
    """An aggregation over lm-eval's records of documents: the values passed to `value` are indices of records."""

    def __init__(self, task: str, metric: str, sources: str = "") -> None:
        self._metric = metric
        self._loaded = load_task(task, sources)
        self._function = self._loaded.aggregation(metric.partition(",")[0])
        self._items: list[Any] = []
        self._docs: list[int] = []

    def read(self, records: Sequence[ScoreRecord]) -> None:
        """Read the stored scores that the values refer to."""
        self._items = [record.details[VALUES][self._metric] for record in records]
        self._docs = [int(record.key.doc) for record in records]

    def items(self, clusters: Sequence[Floats]) -> list[Any]:
        """Return the input of lm-eval's aggregation, in the order of the documents."""
        chosen = [int(number) for cluster in clusters for number in cluster]
        return [self._items[number] for number in sorted(chosen, key=self._docs.__getitem__)]

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        """Return None: creval resamples the documents."""
        return None


class LmEvalAggregation(_OfRecords):
    """lm-eval's own function over its own records; None if it gives no finite number."""

    def value(self, clusters: Sequence[Floats]) -> float | None:
        """Return the number."""
        items = self.items(clusters)
        if not items:
            return None
        with quiet():
            found = float(self._function(items))
        return found if math.isfinite(found) else None


class LmEvalError(_OfRecords):
    """lm-eval's own standard error: by its formula, or by its bootstrap with `iterations` draws."""

    def __init__(self, task: str, metric: str, iterations: int | None = None, sources: str = "") -> None:
        super().__init__(task, metric, sources)
        self._iterations = ITERATIONS if iterations is None else iterations

    def value(self, clusters: Sequence[Floats]) -> float | None:
        """Return the error, None if lm-eval has none."""
        from lm_eval.api import metrics

        items = self.items(clusters)
        if len(items) < 2 or self._iterations < 1:
            return None
        if self._function is metrics.acc_all:
            return float(metrics.acc_all_stderr(items))
        slow = self._metric.partition(",")[0] in SLOW
        draws = self._drawn(items, min(self._iterations, 100) if slow else self._iterations)
        return float(metrics.sample_stddev(draws))

    def _drawn(self, items: Sequence[Any], iterations: int) -> list[float]:
        """Draw as `bootstrap_stderr` of lm-eval does, in this process: chunk i of 1,000 draws has the seed i."""
        chunk = min(1000, iterations)
        found = []
        with quiet():
            for number in range(iterations // chunk):
                stream = random.Random(number)
                found += [float(self._function(stream.choices(items, k=len(items)))) for _ in range(chunk)]
        return found
