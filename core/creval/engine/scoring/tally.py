"""Collects the scores of one task as columns of numbers: a few bytes a sample, never its texts."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from creval.errors import ScoringError
from creval.quotations import MARK
from creval.scoring.clusters import Clusters, Floats
from creval.types.metrics import StatusCounts
from creval.types.sample import SampleKey, SampleScore, Status

__all__ = ["FAILED", "Grouping", "TaskTally"]

_STATUSES = tuple(Status)
_CODES = {status: code for code, status in enumerate(_STATUSES)}
_SHOWN = 5
FAILED = (Status.UNPARSED, Status.TRUNCATED, Status.REFUSED)
"""The model's own failures, which a metric may count as zero. An errored sample is never the model's."""

Column = np.ndarray[Any, np.dtype[np.int64]]


class Grouping(NamedTuple):
    """How values are clustered: by `unit`, doc, trial or group; and the score that they are weighted by.

    `groups` has each doc's group, where docs are taken together.
    """

    unit: str = "doc"
    weight: str | None = None
    groups: Mapping[str, str] | None = None


class TaskTally:
    """Columns over the samples of one task: doc, repeat, condition, status, every score (NaN: there is none), and how
    the sample ended as far as that score is concerned.

    What is made from them does not depend on the order in which the samples ended.
    """

    def __init__(self, names: Sequence[str], conditions: Sequence[str]) -> None:
        self._names = tuple(names)
        self._conditions = {name: index for index, name in enumerate(conditions)}
        self._docs: dict[str, int] = {}
        self._doc, self._repeat, self._condition, self._status = (array("l") for _ in range(4))
        self._scores = {name: array("d") for name in self._names}
        self._ended = {name: array("b") for name in self._names}
        self._order: Column | None = None
        self._errors: list[tuple[SampleKey, str]] = []
        self.routes: Counter[str] = Counter()

    def add(self, score: SampleScore) -> None:
        """Add one sample's score. Raises ScoringError, naming the sample, where a number is not finite."""
        self._order = None
        self._doc.append(self._docs.setdefault(score.key.doc, len(self._docs)))
        self._repeat.append(score.key.repeat)
        self._condition.append(self._conditions[score.key.condition])
        self._status.append(_CODES[score.status])
        for name, column in self._scores.items():
            value = score.scores.get(name)
            if value is not None and not math.isfinite(value):
                raise ScoringError(f"the score {name!r} of {tuple(score.key)} is {value}, which is no finite number")
            column.append(math.nan if value is None else value)
            self._ended[name].append(_CODES[score.status_of(name)])
        if score.route:
            self.routes[score.route] += 1
        if score.status is Status.ERRORED:
            self._errors = sorted([*self._errors, (score.key, score.reason or "")])[:_SHOWN]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The first errored samples by name, each with its reason."""
        return [
            {"doc": key.doc, "condition": key.condition, "repeat": key.repeat, "reason": MARK.sub("⟦…⟧", reason)}
            for key, reason in self._errors
        ]

    def counts(self, planned: int, condition: int | None = None, name: str | None = None) -> StatusCounts:
        """Return the counts by status; what was planned and has no score counts as skipped.

        With the name of a score: as far as that score is concerned.
        """
        status = self._sorted(self._status if name is None else self._ended[name])
        if condition is not None:
            status = status[self._sorted(self._condition) == condition]
        counted = {name.value: int((status == code).sum()) for code, name in enumerate(_STATUSES)}
        counted["skipped"] += max(0, planned - int(status.size))
        return StatusCounts(**counted)

    def clusters(
        self, name: str, zero: float | None, condition: int | None = None, grouping: Grouping | None = None
    ) -> tuple[Clusters, int]:
        """Return (the values clustered, number of the model's failures among them).

        `zero` is what those failures (FAILED) count as, where no scorer gave them a score of their own; None leaves
        these out. Errored and skipped samples are always left out, and with a weight those without one.
        """
        grouping = grouping or Grouping()
        values, keep, failed = self._kept(name, zero, condition, grouping)
        weights = None if grouping.weight is None else self._column(grouping.weight)[keep]
        if grouping.unit == "trial":
            return Clusters.trials(values[keep], weights), failed
        ranks, unit = (
            (self._ranks(), "doc") if grouping.groups is None else (self._group_ranks(grouping.groups), "group")
        )
        return Clusters.group(values[keep], ranks[self._sorted(self._doc)][keep], weights, unit), failed

    def condition(self, name: str | None) -> int | None:
        """Return the number of a condition, None for all."""
        return None if name is None else self._conditions[name]

    def docs(
        self, name: str, zero: float | None, condition: int | None = None, grouping: Grouping | None = None
    ) -> list[str]:
        """Return the docs that `clusters` has values of, in its order."""
        _, keep, _ = self._kept(name, zero, condition, grouping or Grouping())
        names = sorted(self._docs)
        return [names[rank] for rank in np.unique(self._ranks()[self._sorted(self._doc)][keep])]

    def _kept(
        self, name: str, zero: float | None, condition: int | None, grouping: Grouping
    ) -> tuple[Floats, np.ndarray[Any, np.dtype[np.bool_]], int]:
        """All values in the canonical order, which of them count, and how many of the model's failures there are."""
        values = self._column(name)
        status = self._sorted(self._ended[name])
        keep = np.ones(values.size, dtype=bool)
        if condition is not None:
            keep = self._sorted(self._condition) == condition
        failed = np.isin(status, [_CODES[each] for each in FAILED]) & keep
        if zero is not None:
            values = np.where(failed & np.isnan(values), zero, values)
        keep &= ~np.isnan(values)
        if grouping.weight is not None:
            keep &= self._column(grouping.weight) > 0  # also false where there is none
        return values, keep, int(failed.sum())

    def _column(self, name: str) -> Floats:
        column: Floats = np.array(self._scores[name], dtype=np.float64)[self._sorting()]
        return column

    def _ranks(self) -> Column:
        """The place of each doc when their ids are sorted."""
        ranks = np.empty(len(self._docs), dtype=np.int64)
        for rank, doc in enumerate(sorted(self._docs)):
            ranks[self._docs[doc]] = rank
        return ranks

    def _group_ranks(self, groups: Mapping[str, str]) -> Column:
        """The place of each doc's group when the groups are sorted by name."""
        places = {name: place for place, name in enumerate(sorted({groups[doc] for doc in self._docs}))}
        ranks = np.empty(len(self._docs), dtype=np.int64)
        for doc, number in self._docs.items():
            ranks[number] = places[groups[doc]]
        return ranks

    def _sorting(self) -> Column:
        """The order of the samples by doc, condition and repeat."""
        if self._order is None:
            docs = self._ranks()[np.array(self._doc, dtype=np.int64)]
            self._order = np.lexsort((np.array(self._repeat), np.array(self._condition), docs))
        return self._order

    def _sorted(self, column: array[int]) -> Column:
        return np.array(column, dtype=np.int64)[self._sorting()]
