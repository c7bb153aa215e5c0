"""Collects the scores of one task as columns of numbers: a few bytes a sample, never its texts."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from creval.scoring.clusters import Clusters
from creval.types.messages import Usage
from creval.types.metrics import StatusCounts
from creval.types.sample import Sample, SampleScore, Status

__all__ = ["FAILED", "TaskTally"]

_STATUSES = tuple(Status)
FAILED = (Status.UNPARSED, Status.TRUNCATED, Status.REFUSED)
"""The model's own failures, which a metric may count as zero. An errored sample is never the model's."""


@dataclass(slots=True)
class TaskTally:
    """Columns over the samples of one task: doc, condition, status and every score (NaN where there is none)."""

    names: Sequence[str]
    conditions: Sequence[str]
    docs: dict[str, int] = field(default_factory=dict)
    doc_column: array[int] = field(default_factory=lambda: array("l"))
    condition_column: array[int] = field(default_factory=lambda: array("l"))
    status_column: array[int] = field(default_factory=lambda: array("b"))
    columns: dict[str, array[float]] = field(default_factory=dict)
    routes: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0
    calls: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, score: SampleScore) -> None:
        """Add one sample's score."""
        self.doc_column.append(self.docs.setdefault(score.key.doc, len(self.docs)))
        self.condition_column.append(self.conditions.index(score.key.condition))
        self.status_column.append(_STATUSES.index(score.status))
        for name in self.names:
            column = self.columns.setdefault(name, array("d"))
            column.append(score.scores.get(name, float("nan")))
        if score.route:
            self.routes[score.route] += 1
        if score.status is Status.ERRORED and len(self.errors) < 5:
            self.errors.append(f"{score.key.doc}: {score.reason}")

    def add_usage(self, sample: Sample) -> None:
        """Add what a sample's calls took."""
        for call in sample.calls:
            if call.reply is not None:
                self._add_reply(call.reply)

    def _add_reply(self, reply: Mapping[str, Any]) -> None:
        usage = reply["usage"]
        self.calls += 1
        self.usage += Usage(usage["input_tokens"], usage["output_tokens"], usage["reasoning_tokens"])
        if "cost" in reply:
            self.cost += reply["cost"]
        else:
            self.unpriced += 1

    def counts(self, planned: int, condition: int | None = None) -> StatusCounts:
        """Return the counts by status; what was planned and never made counts as skipped."""
        status = self._column(self.status_column)
        if condition is not None:
            status = status[self._column(self.condition_column) == condition]
        counted = {name.value: int((status == index).sum()) for index, name in enumerate(_STATUSES)}
        counted["skipped"] += max(0, planned - int(status.size))
        return StatusCounts(**counted)

    def clusters(self, name: str, zero: float | None, condition: int | None = None) -> tuple[Clusters, int]:
        """Return (the values clustered by doc, number of failed samples).

        `zero` is what the model's failures (FAILED) count as, where no scorer gave them a score of their own; None
        leaves those out. Errored and skipped samples are always left out.
        """
        values = np.array(self.columns.get(name, array("d")), dtype=np.float64)
        docs, status = self._column(self.doc_column), self._column(self.status_column)
        keep = np.ones(values.size, dtype=bool)
        if condition is not None:
            keep = self._column(self.condition_column) == condition
        failed = np.isin(status, [_STATUSES.index(each) for each in FAILED]) & keep
        if zero is not None:
            values = np.where(failed & np.isnan(values), zero, values)
        keep &= ~np.isnan(values)
        return Clusters.group(values[keep], docs[keep]), int(failed.sum())

    @staticmethod
    def _column(values: array[int]) -> np.ndarray:
        return np.array(values, dtype=np.int64)
