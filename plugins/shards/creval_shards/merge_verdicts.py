"""Merge the ledgers of the parts: every call is kept, and among differing verdicts one is marked as used."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from creval.plugin import RunError, SampleKey
from creval.plugin.shards import (
    Ranking,
    RunFolder,
    TaskPlan,
    dump_line,
    reusable,
    whole_lines,
)
from creval_shards.merge_samples import Ints, LinePlace, Merged, Sources, writing
from creval_shards.shard_runs import ShardRun

__all__ = ["CallRanks", "Verdicts", "merge_calls"]

_LAST = np.iinfo(np.int64).max


@dataclass(slots=True)
class Verdicts:
    """Differences between the ledgers: the number of questions, and each (part, role) whose verdicts are not used."""

    differing: int = 0
    unused: set[tuple[int, str]] = field(default_factory=set)


class CallRanks:
    """The order of calls: each next to the sample for which it was made first, tasks in order."""

    def __init__(self, plans: Sequence[TaskPlan], rankings: Sequence[Ranking], merged: Sequence[Merged]) -> None:
        self._tasks: dict[str, tuple[int, Ranking]] = {}
        self._suppliers: list[tuple[int, Merged]] = []
        base = 0
        for plan, ranking, each in zip(plans, rankings, merged, strict=True):
            self._tasks[plan.task.name] = (base, ranking)
            self._suppliers.append((base, each))
            base += ranking.count + 1

    def of(self, asked: Mapping[str, Any]) -> int:
        """Return a rank; calls that belong to no sample come after those of their task, analyses' at the end."""
        base, ranking = self._tasks.get(asked.get("task", ""), (0, None))
        if ranking is None:
            return int(_LAST)
        key = SampleKey(asked["task"], str(asked.get("doc_id")), str(asked.get("condition")), asked.get("repeat", -1))
        rank = ranking.of(key)
        return base + (ranking.count if rank is None else rank)

    def order(self, rank: int, part: int) -> tuple[int, bool, int]:
        """Return the sort key of parts that asked one question: the part whose sample was chosen comes first."""
        supplier = -1
        for base, merged in self._suppliers:
            if base <= rank < base + len(merged.suppliers):
                supplier = int(merged.suppliers[rank - base])
        return rank, supplier not in (-1, part), part


class _Book:
    """Columns over the calls of one role, of all parts."""

    def __init__(self, parts: Sequence[ShardRun], role: str, places: CallRanks) -> None:
        self.high, self.low = array("Q"), array("Q")
        self.ranks, self.parts, self.starts, self.lengths = array("q"), array("i"), array("q"), array("i")
        for number, part in enumerate(parts):
            for line in whole_lines(part.folder.calls(role)):
                record = line.record()
                try:
                    high, low = (int(record["key"][start : start + 16], 16) for start in (0, 16))
                    rank = -1 if "unreadable" in record else places.of(record["asked"])
                    int(record["attempt"])
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    where = f"{line.path}:{line.number}"
                    raise RunError(f"the line is not a recorded call ({error!r})", where=where, fix=_FIX) from error
                self.high.append(high)
                self.low.append(low)
                self.ranks.append(rank)
                self.parts.append(number)
                self.starts.append(line.start)
                self.lengths.append(len(line.text))

    def found(self, row: int) -> LinePlace:
        return LinePlace(self.parts[row], self.starts[row], self.lengths[row])

    def questions(self) -> Iterator[list[int]]:
        """Yield the rows of each question, by part and position."""
        order = np.lexsort(
            (np.array(self.parts), np.array(self.low), np.array(self.high))
        )  # stable: files stay in order
        for _, rows in groupby(order, key=lambda row: (self.high[row], self.low[row])):
            yield [int(row) for row in rows]


_FIX = "Remove the line, resume that run, merge again."


def merge_calls(parts: Sequence[ShardRun], target: RunFolder, role: str, places: CallRanks) -> Verdicts:
    """Write the calls of a role in one order: next to the sample for which each was made, those of a question together.

    A question that several parts asked has all its calls, with continued numbers (`attempt`); the verdict in use comes
    last: that of the part whose sample comes first. The other verdicts name it (`instead`). Identical lines are
    written once. Raises RunError with file and line for an invalid call.
    """
    book, verdicts = _Book(parts, role, places), Verdicts()
    sources = Sources([part.folder.calls(role) for part in parts])
    count = len(book.ranks)
    order: Ints = np.zeros((4, count), dtype=np.int64)  # sort keys of the rows: rank, part, position, number
    changed: dict[int, dict[str, Any] | None] = {}
    try:
        for rows in book.questions():
            groups = [list(each) for _, each in groupby(rows, key=lambda row: book.parts[row])]
            groups.sort(key=lambda group: places.order(_rank(book, group), book.parts[group[0]]))
            first = groups[0]
            head = (_rank(book, first), book.parts[first[0]])
            if len(groups) > 1:
                groups = _several(groups, book, (sources, role, verdicts), changed)
            for number, row in enumerate(row for group in groups for row in group):
                place = book.starts[first[0]] if len(groups) > 1 else book.starts[row]
                order[:, row] = (*head, place, number)
        with writing(target.calls(role)) as file:
            for row in np.lexsort(tuple(order[::-1])):
                if int(row) in changed:
                    record = changed[int(row)]
                    file.write(b"" if record is None else dump_line(record))
                else:
                    file.write(sources.line(book.found(int(row))).text)
    finally:
        sources.close()
    return verdicts


def _rank(book: _Book, group: Sequence[int]) -> int:
    return next((book.ranks[row] for row in group if book.ranks[row] >= 0), int(_LAST))


def _several(
    groups: list[list[int]],
    book: _Book,
    about: tuple[Sources, str, Verdicts],
    changed: dict[int, dict[str, Any] | None],
) -> list[list[int]]:
    """Order the calls of several parts to one question, and record their changed lines in `changed`."""
    sources, role, verdicts = about
    records = {row: sources.record(book.found(row)) for group in groups for row in group}
    said = [_verdict([records[row] for row in group]) for group in groups]
    used = next((place for place, each in enumerate(said) if each is not None), 0)
    ordered = [*groups[:used], *groups[used + 1 :], groups[used]]
    seen: set[bytes] = set()
    number, numbers = 0, dict[int, int]()
    for group in ordered:
        renumbered: dict[int, int] = {}
        for row in group:
            line, attempt = sources.line(book.found(row)).text, int(records[row]["attempt"])
            if line in seen:  # a copy of the same run
                changed[row] = None
                continue
            seen.add(line)
            if "unreadable" not in records[row] or attempt not in renumbered:
                renumbered[attempt] = number
                number += 1
            numbers[row] = renumbered[attempt]
            changed[row] = {**records[row], "attempt": numbers[row]}
    last = max((n for row, n in numbers.items() if row in groups[used]), default=number - 1)
    differs = False
    for place, group in enumerate(groups):
        if place == used or said[place] is None or said[place] == said[used]:
            continue
        differs = True
        verdicts.unused.add((book.parts[group[0]], role))
        for row in group:
            if row in numbers and reusable(records[row]):
                changed[row] = {**(changed[row] or {}), "instead": last}
    verdicts.differing += differs
    return ordered


def _verdict(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the verdict that the ledger reuses from a part's calls to a question: the last complete readable one."""
    verdict = None
    for record in records:
        if "unreadable" in record:
            verdict = None
        elif reusable(record):
            verdict = json.dumps([each["text"] for each in record["reply"]["completions"]])
    return verdict
