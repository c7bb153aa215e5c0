"""A summary of the rows of a task's samples or scores, updated as lines are read or written."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from creval.engine.planning.sample_ranks import DoneRanks, Ranking
from creval.errors import RunError
from creval.opener import open_plain, plain_size
from creval.plugins.component_code import is_unchanged
from creval.runs.folder import REDO_STATUSES
from creval.runs.jsonl import Line, cut_out, drop_torn_line, whole_lines
from creval.runs.record_data import read_faults, read_key
from creval.runs.run_commands import resume_command
from creval.types.sample import ComponentFault

__all__ = ["Column", "RowState", "Summary"]

Column = np.ndarray[Any, np.dtype[Any]]


class Summary(Protocol):
    """What is computed from the rows while they are read: sums, columns.

    Rows that are to be made again when the run is resumed (`stays` is false) are kept apart, so that `forget` can
    remove them. `saved` and `restore` convert it to plain data and arrays, and back.
    """

    def add(self, record: Mapping[str, Any], stays: bool) -> None: ...

    def forget(self) -> None: ...

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]: ...

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None: ...


S = TypeVar("S", bound=Summary)


class _Redo(NamedTuple):
    """A row that is to be made again: the rank of its sample, and where its line begins and ends in the file."""

    rank: int
    start: int
    end: int


class RowState(Generic[S]):
    """The complete lines of one file that were read (`read`) or written here (`note`), with their summary.

    `done` are the samples that have a row, `lines` and `size` (bytes) the part of the file read so far. Every row must
    belong to a planned sample, and each sample may have one row. An incomplete last line, which a killed run leaves, is
    not an error; `prepare` removes it. `faults` counts the rows that stay errored, by the component that raised and
    whose code has not changed.
    """

    def __init__(self, path: Path, ranking: Ranking, make: Callable[[], S]) -> None:
        self.path = path
        self._ranking = ranking
        self._make = make
        self.clear()

    def clear(self) -> None:
        """Forget everything that was read."""
        self.summary = self._make()
        self.done = DoneRanks(self._ranking)
        self.lines = 0
        self.size = 0
        self._redo = array("q")
        self.faults: Counter[ComponentFault] = Counter()

    @property
    def sound(self) -> int:
        """The number of rows that stay when the run is resumed."""
        return len(self.done) - len(self._redo) // len(_Redo._fields)

    @property
    def whole(self) -> bool:
        """Whether the whole file was read and ends with a complete line."""
        return plain_size(self.path) == self.size

    def read(self) -> None:
        """Read the lines added since the last call. Raises RunError with file and line."""
        for line in whole_lines(self.path, self.size, self.lines):
            self.take(line, line.record())

    def take(self, line: Line, record: Mapping[str, Any]) -> None:
        """Process the next line of the file. Raises RunError with file and line."""
        try:
            key = read_key(record)
            rank = self._ranking.of(key)
            if rank is not None and self.done.add(rank):
                self._count(record, rank, len(line.text))
                return
        except (KeyError, TypeError, AttributeError) as error:
            what = f"the row is no {self.path.parent.name.removesuffix('s')}: {error!r}"
            raise _fault(what, line) from error
        why = "is not of this run" if rank is None else "occurs twice"
        raise _fault(f"the doc {key.doc!r} ({key.condition}, repeat {key.repeat}) {why}", line)

    def note(self, record: Mapping[str, Any], length: int, rank: int | None = None) -> None:
        """Process a line of `length` bytes that was just appended; the sample's rank is looked up if it is None."""
        if rank is None:
            rank = self._ranking.of(read_key(record))
        assert rank is not None, "only planned samples are made"
        self.done.add(rank)
        self._count(record, rank, length)

    def _count(self, record: Mapping[str, Any], rank: int, length: int) -> None:
        stays = not _is_again(record)
        if stays and record["status"] in REDO_STATUSES:
            self.faults.update(read_faults(record))
        self.summary.add(record, stays)
        if not stays:
            self._redo.extend((rank, self.size, self.size + length))
        self.lines += 1
        self.size += length

    def prepare(self) -> bool:
        """Prepare the file for resuming: remove an incomplete last line and rows that are to be made again.

        Returns whether there were rows to be made again.
        """
        drop_torn_line(self.path)
        if not self._redo:
            return False
        cut_out(self.path, [(row.start, row.end) for row in self._rows_again()])
        for row in self._rows_again():
            self.done.discard(row.rank)
            self.size -= row.end - row.start
            self.lines -= 1
        self.summary.forget()
        self._redo = array("q")
        return True

    def _rows_again(self) -> Iterator[_Redo]:
        each = len(_Redo._fields)
        return (_Redo(*self._redo[start : start + each]) for start in range(0, len(self._redo), each))

    def saved(self) -> tuple[dict[str, Any], dict[str, Column]]:
        """Return the state as plain data and arrays."""
        data, columns = self.summary.saved()
        faults = [[*fault, count] for fault, count in self.faults.items()]
        about = {"lines": self.lines, "size": self.size, "faults": faults, "summary": data}
        done = np.frombuffer(self.done.to_bytes(), dtype=np.uint8)
        return about, {"done": done, "redo": np.array(self._redo, dtype=np.int64), **columns}

    def restore(self, about: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Restore the state from saved data. May raise any error if the data are wrong; then call `clear`."""
        self.done.read_bytes(columns["done"].tobytes())
        self._redo = array("q", columns["redo"].astype(np.int64, casting="safe").tobytes())
        self.lines, self.size = int(about["lines"]), int(about["size"])
        if self.lines != len(self.done) or len(self._redo) % len(_Redo._fields):
            raise ValueError("as many rows as samples that have one, and each that is made again by three numbers")
        self._check_again()
        self.faults = Counter({ComponentFault(*map(str, row[:-1])): int(row[-1]) for row in about["faults"]})
        if not all(map(is_unchanged, self.faults)):
            raise ValueError("the code of a component has changed, so that its rows are made again")
        self.summary.restore(about["summary"], columns)

    def _check_again(self) -> None:
        """Raise ValueError or RunError if a row marked to be made again is another one: it would be removed."""
        before = 0
        with os.fdopen(open_plain(self.path), "rb") as file:
            for rank, start, end in self._rows_again():
                file.seek(max(0, start))
                record = Line(file.readline(max(0, end - start)), 0, start, self.path).record()
                again = _is_again(record) and rank == self._ranking.of(read_key(record))
                if not (again and before <= start and file.tell() == end <= self.size):
                    raise ValueError("a row that stays is marked as one that is made again")
                before = end


def _is_again(record: Mapping[str, Any]) -> bool:
    """Whether a row is made again when the run is resumed: not if the code that raised is still the same."""
    if record["status"] not in REDO_STATUSES:
        return False
    faults = read_faults(record)
    return not faults or not all(map(is_unchanged, faults))


def _fault(what: str, line: Line) -> RunError:
    fix = f"Remove the line, then: {resume_command(line.path.parent.parent)}"
    return RunError(what, where=f"{line.path}:{line.number}", fix=fix)
