"""Collects the scores of one task as columns of numbers: a few bytes per sample, never its texts."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from creval.engine.planning.plan import TaskPlan
from creval.errors import ScoringError
from creval.packed_keys import PackedTexts
from creval.runs.record_data import read_score
from creval.scoring.clusters import Clusters, Floats
from creval.types.metrics import StatusCounts
from creval.types.sample import SampleKey, ScoreRecord, Status

__all__ = ["Grouping", "Place", "ResumableTally", "TaskTally", "empty_tally", "metric_names"]

_STATUSES = tuple(Status)
_CODES = {status: code for code, status in enumerate(_STATUSES)}
_CODES_BY_NAME = {status.value: code for status, code in _CODES.items()}
_ERRORED = Status.ERRORED.value
_SHOWN = 5
_AGAIN = "again:"

Place = tuple[str, str, int]
"""Doc, condition and repeat of a sample."""
Column = np.ndarray[Any, np.dtype[np.int32]]


class Grouping(NamedTuple):
    """How values are clustered, by `unit` (doc, trial or group), and the score by which they are weighted.

    `groups` is each doc's group, if docs are grouped.
    """

    unit: str = "doc"
    weight: str | None = None
    groups: Mapping[str, str] | None = None


class TaskTally:
    """Columns over the samples of one task: doc, repeat, condition, status, every score (NaN: missing), and the status
    of the sample for that score.

    Results do not depend on the order in which the samples ended. `docs` are the ids of the data, if they are already
    in memory.
    """

    def __init__(self, names: Sequence[str], conditions: Sequence[str], docs: PackedTexts | None = None) -> None:
        self._names = tuple(names)
        self._conditions = {name: index for index, name in enumerate(conditions)}
        self._docs, self._open = (PackedTexts(), True) if docs is None else (docs, False)
        self._doc, self._repeat, self._condition, self._status = array("i"), array("B"), array("H"), array("b")
        self._doc_ranks: Column | None = None
        self._ranked = -1
        self._scores = {name: array("d") for name in self._names}
        self._ended = {name: array("b") for name in self._names}
        self._order: Column | slice | None = None  # a slice if they came in order
        self._errors: list[tuple[SampleKey, str]] = []
        self.routes: Counter[str] = Counter()

    def add(self, score: ScoreRecord) -> None:
        """Add one sample's score. Raises ScoringError, naming the sample, if a number is not finite."""
        self._order = None
        self._doc.append(self._number(score.key.doc))
        if score.key.repeat > 255 and self._repeat.typecode == "B":
            self._repeat = array("q", self._repeat)
        self._repeat.append(score.key.repeat)
        self._condition.append(self._conditions[score.key.condition])
        self._status.append(_CODES[score.status])
        for name, column in self._scores.items():
            value = score.scores.get(name)
            if value is not None and not math.isfinite(value):
                raise ScoringError(f"the score {name!r} of {tuple(score.key)} is {value}, which is not a finite number")
            column.append(math.nan if value is None else value)
            self._ended[name].append(_CODES[score.status_of(name)])
        if score.route:
            self.routes[score.route] += 1
        if score.status is Status.ERRORED:
            self._errors = sorted([*self._errors, (score.key, score.reason or "")])[:_SHOWN]

    def add_row(self, record: Mapping[str, Any]) -> None:
        """Add a line of scores/, like `add`."""
        if "missing" in record or record["status"] == _ERRORED or not self._plain(record["scores"]):
            self.add(read_score(record))
            return
        self._order = None
        scores, code, repeat = record["scores"], _CODES_BY_NAME[record["status"]], record["repeat"]
        self._doc.append(self._number(record["doc_id"]))
        if repeat > 255 and self._repeat.typecode == "B":
            self._repeat = array("q", self._repeat)
        self._repeat.append(repeat)
        self._condition.append(self._conditions[record["condition"]])
        self._status.append(code)
        for name, column in self._scores.items():
            column.append(scores.get(name, math.nan))
            self._ended[name].append(code)
        route = record.get("route")
        if route:
            self.routes[route] += 1

    def __len__(self) -> int:
        return len(self._doc)

    def join(self, other: TaskTally) -> None:
        """Add the samples of another tally of the same docs, scores and conditions."""
        self._order = None
        for name, column in other._columns().items():
            target = self._columns()[name]
            if target.typecode != column.typecode:  # the repeats of one no longer fit a byte
                target = self._repeat = array("q", target)
            target.extend(array(target.typecode, column))
        self._errors = sorted([*self._errors, *other._errors])[:_SHOWN]
        self.routes.update(other.routes)

    def saved(self) -> tuple[Mapping[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """Return it as plain data, and its columns without a copy: they may not grow while the arrays are in use."""
        columns = {name: _view(column) for name, column in self._columns().items()}
        errors = [[*key, reason] for key, reason in self._errors]
        return {"errors": errors, "routes": dict(self.routes)}, columns

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, np.ndarray[Any, Any]], prefix: str = "") -> None:
        """Restore it from saved data whose names have this prefix. Raises KeyError, TypeError, ValueError."""
        if columns[f"{prefix}repeat"].dtype == np.int64:  # they did not fit a byte
            self._repeat = array("q")
        lengths = set()
        ends = self._code_counts()
        for name, target in self._columns().items():
            column = columns[prefix + name].astype(target.typecode, casting="safe", copy=False)
            if name in ends and len(column) and not 0 <= int(column.min()) <= int(column.max()) < ends[name]:
                raise ValueError(f"{name}: a number that there is not")
            lengths.add(len(column))
            del target[:]
            if len(column):
                target.frombytes(column.data.cast("B"))
        if len(lengths) > 1:
            raise ValueError("columns of unequal length")
        self._order = None
        self._errors = [(SampleKey(*key), reason) for *key, reason in data["errors"]]
        self.routes = Counter(data["routes"])

    def _columns(self) -> dict[str, array[Any]]:
        named = {"doc": self._doc, "repeat": self._repeat, "condition": self._condition, "status": self._status}
        scores = {f"score:{name}": column for name, column in self._scores.items()}
        return named | scores | {f"ended:{name}": column for name, column in self._ended.items()}

    def _code_counts(self) -> dict[str, int]:
        """Return the number of codes in each column of codes."""
        ended = dict.fromkeys((f"ended:{name}" for name in self._ended), len(_STATUSES))
        return {"doc": len(self._docs), "condition": len(self._conditions), "status": len(_STATUSES), **ended}

    def _plain(self, scores: Mapping[str, Any]) -> bool:
        return all(type(number) is float and math.isfinite(number) for number in scores.values())

    def _number(self, doc: str) -> int:
        number = self._docs.add(doc) if self._open else self._docs.find(doc)
        if number < 0:
            raise ScoringError(f"there is a score of the doc {doc!r}, which is not in the data")
        return number

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The first errored samples by name, each with its reason."""
        return [
            {"doc": key.doc, "condition": key.condition, "repeat": key.repeat, "reason": reason}
            for key, reason in self._errors
        ]

    def counts(self, planned: int, condition: int | None = None, name: str | None = None) -> StatusCounts:
        """Return the counts by status; planned samples without a score count as skipped.

        With the name of a score, the counts are for that score, without samples for which it does not exist.
        """
        status = self._sorted(self._status if name is None else self._ended[name])
        if name is not None:
            none_given = np.isnan(self.column(name)) & (status == _CODES[Status.SCORED])
            status = np.where(none_given, -1, status)
        if condition is not None:
            status = status[self._sorted(self._condition) == condition]
        counted = {name.value: int((status == code).sum()) for code, name in enumerate(_STATUSES)}
        recorded = counted["skipped"] if name is None else 0
        counted["skipped"] = recorded + max(0, planned - int(status.size))
        return StatusCounts(**counted)

    def clusters(
        self, name: str, zero: float | None, condition: int | None = None, grouping: Grouping | None = None
    ) -> tuple[Clusters, int]:
        """Return (the values in clusters, number of the model's failures among them).

        `zero` is the value of the model's failures (`Status.is_failure`) that have no score; None leaves them out.
        Errored and skipped samples are always left out, as are samples without a weight if there is one.
        """
        grouping = grouping or Grouping()
        values, keep, failed = self._counted_values(name, zero, condition, grouping)
        weights = None if grouping.weight is None else self.column(grouping.weight)[keep]
        if grouping.unit == "trial":
            return Clusters.trials(values[keep], weights), failed
        ranks, unit = (
            (self._ranks(), "doc") if grouping.groups is None else (self._group_ranks(grouping.groups), "group")
        )
        labels = self._sorted(self._doc)
        if not keep.all():
            labels, values = labels[keep], values[keep]
        return Clusters.group(values, labels if ranks is None else ranks[labels], weights, unit), failed

    def units(
        self, name: str, zero: float | None, condition: int | None, grouping: Grouping
    ) -> tuple[Column, list[str]]:
        """Return the ascending numbers of the units (docs or trials) in `clusters`, and the doc of each."""
        _, keep, _ = self._counted_values(name, zero, condition, grouping)
        if grouping.unit == "trial":
            docs = self._sorted(self._doc)[keep]
            return np.flatnonzero(keep).astype(np.int32), [self._docs[number] for number in docs]
        ranks, labels = self._ranks(), self._sorted(self._doc)[keep]
        found = np.unique(labels if ranks is None else ranks[labels])
        return found.astype(np.int32), self.docs(name, zero, condition, grouping)

    def part(self, docs: Collection[str]) -> TaskTally:
        """Return a tally of the samples of these docs alone."""
        numbers = np.array([number for doc in docs if (number := self._docs.find(doc)) >= 0], dtype=np.int32)
        keep = np.isin(_view(self._doc), numbers)
        part = TaskTally(self._names, list(self._conditions), self._docs)
        part._repeat = array(self._repeat.typecode)
        for name, column in self._columns().items():
            part._columns()[name].frombytes(_view(column)[keep].tobytes())
        return part

    def condition(self, name: str | None) -> int | None:
        """Return the number of a condition, None for all."""
        return None if name is None else self._conditions[name]

    def docs(
        self, name: str, zero: float | None, condition: int | None = None, grouping: Grouping | None = None
    ) -> list[str]:
        """Return the docs with values in `clusters`, in its order."""
        _, keep, _ = self._counted_values(name, zero, condition, grouping or Grouping())
        found = np.unique(self._sorted(self._doc)[keep])
        ranks = self._ranks()
        return [self._docs[number] for number in (found if ranks is None else found[np.argsort(ranks[found])])]

    def places(
        self, name: str, zero: float | None, condition: int | None = None, grouping: Grouping | None = None
    ) -> list[Place]:
        """Return the samples with values in `clusters`, in its order if there are no groups."""
        _, keep, _ = self._counted_values(name, zero, condition, grouping or Grouping())
        columns = [self._sorted(column)[keep].tolist() for column in (self._doc, self._condition, self._repeat)]
        names = list(self._conditions)
        return [(self._docs[d], names[c], r) for d, c, r in zip(*columns, strict=True)]

    def _counted_values(
        self, name: str, zero: float | None, condition: int | None, grouping: Grouping
    ) -> tuple[Floats, np.ndarray[Any, np.dtype[np.bool_]], int]:
        """Return all values in the canonical order, which of them count, and the number of the model's failures."""
        values = self.column(name)
        status = self._sorted(self._ended[name])
        keep = np.ones(values.size, dtype=bool)
        if condition is not None:
            keep = self._sorted(self._condition) == condition
        failed = np.isin(status, [_CODES[member] for member in Status if member.is_failure]) & keep
        missing = np.isnan(values)
        if zero is not None and (failed & missing).any():
            values = np.where(failed & missing, zero, values)
            missing &= ~failed
        keep &= ~missing
        if grouping.weight is not None:
            keep &= self.column(grouping.weight) > 0  # also false if there is none
        return values, keep, int(failed.sum())

    @property
    def docs_of_samples(self) -> Column:
        """Return the number of every sample's doc, in the canonical order."""
        return self._sorted(self._doc)

    def column(self, name: str) -> Floats:
        """Return a score of every sample, in the canonical order (NaN: missing)."""
        return self._sorted(self._scores[name])

    def _ranks(self) -> Column | None:
        """Return the rank of each doc by sorted id; None if they came sorted."""
        if self._ranked != len(self._docs):
            self._doc_ranks, self._ranked = self._docs.ranks(), len(self._docs)
        return self._doc_ranks

    def _group_ranks(self, groups: Mapping[str, str]) -> Column:
        """Return the rank of each doc's group by sorted name."""
        numbers = np.unique(np.array(self._doc))
        places = {name: place for place, name in enumerate(sorted({groups[self._docs[n]] for n in numbers}))}
        ranks = np.full(len(self._docs), -1, dtype=np.int32)
        for number in numbers:
            ranks[number] = places[groups[self._docs[number]]]
        return ranks

    def _sorting(self) -> Column | slice:
        """Return the order of the samples by doc, condition and repeat."""
        if self._order is None:
            ranks, docs = self._ranks(), _view(self._doc)
            docs = docs if ranks is None else ranks[docs]
            others = _view(self._condition), _view(self._repeat)
            if _rise(docs, *others):
                self._order = slice(None)
            else:
                self._order = np.lexsort((others[1], others[0], docs)).astype(np.int32)
        return self._order

    def _sorted(self, column: array[Any]) -> np.ndarray[Any, np.dtype[Any]]:
        """Return a column in that order: itself if it is in order, so add nothing while it is in use."""
        found: np.ndarray[Any, np.dtype[Any]] = _view(column)[self._sorting()]
        return found


def metric_names(plan: TaskPlan) -> list[str]:
    """Return the names of the scores behind the metrics of a task."""
    named = [name for metric in plan.task.metrics for name in (metric.source, metric.weight) if name is not None]
    named += [name for raters in plan.raters for name in raters.scores.values()]
    return list(dict.fromkeys(named))


def empty_tally(plan: TaskPlan) -> TaskTally:
    """Return the empty columns for the scores of a task."""
    return TaskTally(metric_names(plan), [condition.name for condition in plan.task.conditions], plan.dataset.known_ids)


class ResumableTally:
    """The `Summary` of scores of a resumable run: those that stay, and those that are made again."""

    def __init__(self, plan: TaskPlan) -> None:
        self._make = partial(empty_tally, plan)
        self._final, self._redone = self._make(), self._make()
        self._sound = True

    def whole(self) -> TaskTally | None:
        """Return the columns of all scores, or None if a score cannot be read (reading the file reports why)."""
        if not self._sound:
            return None
        if not len(self._redone):
            return self._final
        joined = self._make()
        joined.join(self._final)
        joined.join(self._redone)
        return joined

    def add(self, record: Mapping[str, Any], stays: bool) -> None:
        """Add a line of scores/."""
        try:
            (self._final if stays else self._redone).add_row(record)
        except ScoringError:
            self._sound = False

    def forget(self) -> None:
        """Remove the scores that are made again."""
        self._redone = self._make()

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]:
        """Return the tally as plain data and arrays."""
        (stays, columns), (redone, others) = self._final.saved(), self._redone.saved()
        all_columns = {**columns, **{_AGAIN + name: column for name, column in others.items()}}
        return {"sound": self._sound, "stays": stays, "again": redone}, all_columns

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Restore the tally from saved data. Raises KeyError, TypeError, ValueError, also for unsound scores."""
        if not data["sound"]:
            raise ValueError("the scores have to be read")
        self._final.restore(data["stays"], columns)
        self._redone.restore(data["again"], columns, _AGAIN)


def _view(column: array[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """Return a column as a numpy array, not copied."""
    return np.frombuffer(column, dtype=column.typecode)


def _rise(*columns: np.ndarray[Any, np.dtype[Any]]) -> bool:
    """Whether rows are sorted by the columns in order."""
    equal = np.ones(max(0, len(columns[0]) - 1), dtype=bool)
    for column in columns:
        later, before = column[1:], column[:-1]
        if (equal & (later < before)).any():
            return False
        equal &= later == before
    return True
