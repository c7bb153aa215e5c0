"""Merge the samples and scores of one task, from all parts, in the order of the undivided run.

This module has tables with the position of each line, and copies the lines in one order.
"""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from creval.plugin import RunError, SampleKey
from creval.plugin.shards import (
    REDO_STATUSES,
    DoneRanks,
    Line,
    Ranking,
    RunFolder,
    UsageTally,
    disk_error,
    open_plain,
    pieces,
)
from creval_shards.shard_runs import ShardRun

__all__ = ["Ints", "LinePlace", "Merged", "Sources", "merge_samples", "merge_scores", "writing"]


Ints = np.ndarray[Any, np.dtype[np.int64]]

_OPEN = 64  # open files at once

_BUFFER = 1 << 20


class LinePlace(NamedTuple):
    """The position of a line: the file of a part, the line's first byte, and its length in bytes."""

    part: int
    start: int
    length: int


class LineTable:
    """Columns over the lines of all parts: 25 bytes each. `rank` is its place in the whole run, `flag` a mark."""

    def __init__(self) -> None:
        self.ranks, self.parts, self.starts, self.lengths = array("q"), array("i"), array("q"), array("i")
        self.flags = array("b")

    def add(self, rank: int, part: int, line: Line, flag: int = 0) -> None:
        """Add a line."""
        self.ranks.append(rank)
        self.parts.append(part)
        self.starts.append(line.start)
        self.lengths.append(len(line.text))
        self.flags.append(flag)

    def __len__(self) -> int:
        return len(self.ranks)

    def found(self, row: int) -> LinePlace:
        """Return the position of the line of a table's row."""
        return LinePlace(self.parts[row], self.starts[row], self.lengths[row])

    def order(self) -> Ints:
        """Return the rows by rank; for equal ranks the unmarked first, then by part and position."""
        columns = (self.starts, self.parts, self.flags, self.ranks)
        return np.lexsort(tuple(np.frombuffer(column, dtype=column.typecode) for column in columns))

    def groups(self) -> Iterator[Sequence[int]]:
        """Yield the rows of each rank, in order."""
        ranks = self.ranks
        group: list[int] = []
        for row in self.order():
            if group and ranks[group[0]] != ranks[row]:
                yield group
                group = []
            group.append(int(row))
        if group:
            yield group


class Sources:
    """The files of one kind of all parts, read by position; few of them are open at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._open: OrderedDict[int, int] = OrderedDict()

    def line(self, place: LinePlace) -> Line:
        """Return a line unchanged; its number is counted only when needed (`fault`)."""
        try:
            text = os.pread(self._descriptor(place.part), place.length, place.start)
        except OSError as error:
            raise RunError(f"cannot be read: {error.strerror}", where=str(self._paths[place.part])) from error
        return Line(text, 0, place.start, self._paths[place.part])

    def numbered(self, place: LinePlace) -> Line:
        """Return a line with its number, for messages."""
        line = self.line(place)
        with os.fdopen(open_plain(line.path), "rb") as file:
            before = sum(chunk.count(b"\n") for chunk in pieces(file, place.start))
        return line._replace(number=before + 1)

    def record(self, place: LinePlace) -> dict[str, Any]:
        """Return the data of a line. Raises RunError with file and line if it is damaged."""
        try:
            return self.line(place).record()
        except RunError:
            return self.numbered(place).record()

    def _descriptor(self, part: int) -> int:
        if part in self._open:
            self._open.move_to_end(part)
            return self._open[part]
        if len(self._open) >= _OPEN:
            os.close(self._open.popitem(last=False)[1])
        self._open[part] = open_plain(self._paths[part])
        return self._open[part]

    def close(self) -> None:
        """Close the files."""
        while self._open:
            os.close(self._open.popitem()[1])


@contextmanager
def writing(path: Path, folders: Iterable[Path] = ()) -> Iterator[Any]:
    """Yield a new file to write bytes to, on disk at the end. Raises RunError if the disk is full."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=_BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise disk_error(error, path) from error


_Suppliers = np.ndarray[Any, np.dtype[np.int32]]

_TIMES = ("started", "seconds")


@dataclass(slots=True)
class Merged:
    """The merged samples of a task: their number, the usage of their calls, and the part of each.

    `suppliers` contains for each rank the number of the part that supplied the sample, -1 if there is none.
    """

    samples: int
    usage: UsageTally
    suppliers: _Suppliers


def merge_samples(parts: Sequence[ShardRun], target: RunFolder, task: str, ranking: Ranking) -> Merged:
    """Write the samples of a task in one order.

    A sample that two parts have is written once: one that did not end as errored takes precedence, then that of the
    first part. Raises RunError with file and line for rows that are damaged, duplicate or another run's, and if two
    parts have answers to one sample that differ in more than times.
    """
    files = [part.folder.samples(task) for part in parts]
    samples = _table(parts, ranking, files)
    suppliers = np.full(ranking.count, -1, dtype=np.int32)
    usage, written = UsageTally(), 0
    sources = Sources(files)
    try:
        with writing(target.samples(task)) as file:
            for group in samples.groups():
                chosen = samples.found(group[0])
                record = sources.record(chosen)
                _check_equal(record, [samples.found(row) for row in group if not samples.flags[row]], sources)
                suppliers[samples.ranks[group[0]]] = chosen.part
                usage.add(record)
                file.write(sources.line(chosen).text)
                written += 1
    finally:
        sources.close()
    return Merged(written, usage, suppliers)


def merge_scores(
    parts: Sequence[ShardRun], target: RunFolder, task: str, ranking: Ranking, which: tuple[Merged, Collection[int]]
) -> int:
    """Write the scores of the chosen samples, and return their number.

    Those of the parts `stale` are left out, and are scored again later. Raises RunError as `merge_samples` does.
    """
    (merged, stale), files = which, [part.folder.scores(task) for part in parts]
    scores, suppliers = _table(parts, ranking, files), merged.suppliers
    sources, written = Sources(files), 0
    try:
        with writing(target.scores(task)) as file:
            for group in scores.groups():
                supplier = suppliers[scores.ranks[group[0]]]
                row = next((row for row in group if scores.parts[row] == supplier), None)
                if row is not None and supplier not in stale:
                    place = scores.found(row)
                    sources.record(place)  # a damaged one must not be copied
                    file.write(sources.line(place).text)
                    written += 1
    finally:
        sources.close()
    return written


def _table(parts: Sequence[ShardRun], ranking: Ranking, files: Sequence[Path]) -> LineTable:
    """Read every line of all parts. Raises RunError for rows of another run, or rows that occur twice in a file."""
    table = LineTable()
    for number, (part, file) in enumerate(zip(parts, files, strict=True)):
        seen = DoneRanks(ranking)
        for key, status, line in part.folder.rows(file):
            rank = ranking.of(key)
            if rank is None or (part.shard is not None and not part.shard.holds(key.doc)):
                raise _fault(f"{_named(key)} is not of this run", line)
            if not seen.add(rank):
                raise _fault(f"{_named(key)} occurs twice", line)
            table.add(rank, number, line, status in REDO_STATUSES)
    return table


def _check_equal(first: Mapping[str, Any], places: Sequence[LinePlace], sources: Sources) -> None:
    """Raise RunError if answers of several parts to one sample differ."""
    for place in places[1:]:
        if _comparable(first) != _comparable(sources.record(place)):
            one, other = sources.numbered(places[0]), sources.numbered(place)
            name = f"the doc {first['doc_id']!r} ({first['condition']}, repeat {first['repeat']})"
            raise RunError(
                f"{name} has a different answer from that at {one.path}:{one.number}",
                where=f"{other.path}:{other.number}",
                fix="Merge without one of the two runs.",
            )


def _comparable(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample without the fields that may differ between equal ones: times, and usage of tries and calls."""
    calls = [
        {"role": call["role"], "messages": call["messages"], "settings": call.get("settings")}
        | {"completions": (call.get("reply") or {}).get("completions"), "error": call.get("error")}
        for call in record["calls"]
    ]
    return {name: value for name, value in record.items() if name not in _TIMES} | {"calls": calls}


def _named(key: SampleKey) -> str:
    return f"the doc {key.doc!r} ({key.condition}, repeat {key.repeat})"


def _fault(what: str, line: Line) -> RunError:
    return RunError(what, where=f"{line.path}:{line.number}", fix="Remove the line, resume that run, merge again.")
