"""batches.jsonl: the book of a run's batches (`creval.models.batches.book`), one note a line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from creval.opener import is_there, open_plain, parse_json
from creval.runs.jsonl import Appender, drop_torn_line, keep_lines, read_placed

__all__ = ["BatchNotes"]


class BatchNotes:
    """Notes in a file that is made with the first of them. Raises RunError where it is damaged or cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing: Appender | None = None
        self._reading: BinaryIO | None = None
        drop_torn_line(path)

    def lines(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield every note with its place, in bytes."""
        yield from read_placed(self._path)

    def append(self, record: Mapping[str, Any], sure: bool = False) -> int:
        """Write one line and return its place; `sure`: it is on the disk by then."""
        if self._writing is None:
            self._writing = Appender(self._path)
        place = self._writing.append(record)
        if sure:
            self._writing.close()
            self._writing = None
        return place

    def read(self, place: int) -> Mapping[str, Any]:
        """Return the note at a place."""
        if self._reading is None:
            self._reading = os.fdopen(open_plain(self._path), "rb")
        self._reading.seek(place)
        record: Mapping[str, Any] = parse_json(self._reading.readline().decode())
        return record

    def close(self) -> None:
        """Bring the notes to disk and close the file."""
        if self._reading is not None:
            self._reading.close()
        if self._writing is not None:
            self._writing.close()
        self._reading = self._writing = None

    def settle(self) -> None:
        """Take the answers out: every sample is made, and holds its own."""
        self.close()
        if is_there(self._path):
            keep_lines(self._path, lambda record: "answer" not in record)
