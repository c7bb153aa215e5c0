"""Lines of the merged runs: tables of where each stands, and their copies in one order."""

from __future__ import annotations

import os
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from creval.errors import RunError
from creval.opener import open_plain
from creval.runs.jsonl import Line, disk_error, pieces

__all__ = ["Ints", "LinePlace", "LineTable", "Sources", "writing"]

Ints = np.ndarray[Any, np.dtype[np.int64]]
_OPEN = 64  # files at once
_BUFFER = 1 << 20


class LinePlace(NamedTuple):
    """Where a line stands: in the file of a part, from this byte on, so many bytes."""

    part: int
    start: int
    length: int


class LineTable:
    """Columns over the lines of all parts: 25 bytes a line. `rank` is its place in the undivided run, `flag` a mark."""

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
        """Return where the line of a row of the table stands."""
        return LinePlace(self.parts[row], self.starts[row], self.lengths[row])

    def order(self) -> Ints:
        """Return the rows by rank; of one rank the unmarked first, then by part and place."""
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
    """The files of one kind of all parts, read by place; few of them are open at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._open: OrderedDict[int, int] = OrderedDict()

    def line(self, place: LinePlace) -> Line:
        """Return a line as it stands in its file; its number is counted only where it is wanted (`fault`)."""
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
        """Return what a line holds. Raises RunError with file and line where it is damaged."""
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
    """Give a new file to write bytes to, on disk at the end. Raises RunError where the disk is full."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=_BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise disk_error(error, path) from error
