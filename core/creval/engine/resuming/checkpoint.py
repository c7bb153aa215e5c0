"""Checkpoints: what the rows of a large file say, so that resuming its run need not read them again."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from creval.engine.resuming.row_state import Column, RowState
from creval.errors import RunError
from creval.opener import open_plain
from creval.runs.jsonl import pieces, replacing

__all__ = ["EVERY", "Checkpoint", "open_arrays", "write_arrays"]

_NUMBERS = "uif"


def write_arrays(file: BinaryIO, columns: Mapping[str, Column]) -> None:
    """Write what `numpy.savez` does, without a copy of any array."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, np.lib.format.header_data_from_array_1_0(column))
                if len(column):
                    member.write(column.data.cast("B"))


@contextmanager
def open_arrays(path: Path) -> Iterator[_Arrays]:
    """Open such a file; each array is read when it is asked for.

    Raises StrangeFileError for what is no plain file, and whatever zipfile and numpy raise for one that is damaged.
    """
    with os.fdopen(open_plain(path), "rb") as file, zipfile.ZipFile(file) as archive:
        yield _Arrays(archive)


class _Arrays(Mapping[str, Column]):
    """The arrays of an open file by name: rows of numbers, each of which takes as much memory as room in the file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def __getitem__(self, name: str) -> Column:
        about = self._archive.getinfo(f"{name}.npy")
        if about.compress_type != zipfile.ZIP_STORED:  # it could be of any size
            raise ValueError(f"{name} is packed")
        data = self._archive.read(about)
        head = io.BytesIO(data)
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError(f"{name} has another form")
        shape, _, kind = np.lib.format.read_array_header_1_0(head)
        start = head.tell()
        if kind.kind not in _NUMBERS or shape != ((len(data) - start) // kind.itemsize,):
            raise ValueError(f"{name} is no row of so many numbers")
        return np.frombuffer(data, dtype=kind, offset=start, count=shape[0])

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._archive.namelist())

    def __len__(self) -> int:
        return len(self._archive.namelist())


EVERY = 50_000
"""A checkpoint is written after so many further lines; smaller files have none."""

_FORM = 1


class Checkpoint:
    """The checkpoint of one file of rows. It may be lost at any time: then the rows are read.

    It holds for the file as it was, which its sha256 says: what it tells of the first `size` bytes is taken only where
    these are the same bytes, and where `identity`, what the rows were planned by, is the same.
    """

    def __init__(self, path: Path, rows: RowState[Any], identity: str) -> None:
        self._path = path
        self._rows = rows
        self._identity = identity
        self._lines = 0  # of the file that the last checkpoint speaks of
        self._hashed, self._digest = 0, hashlib.sha256()

    def load(self) -> None:
        """Let the rows be what the checkpoint says, where there is one that holds, and read what came after it.

        Raises RunError where a row that is read is none of the run's.
        """
        if not self._restored():
            self._rows.clear()
            self.restart()
            self._rows.read()
        self.note()

    def restart(self) -> None:
        """The file was rewritten: the next checkpoint speaks of all of it."""
        self._lines, self._hashed, self._digest = 0, 0, hashlib.sha256()

    def note(self) -> None:
        """Write a checkpoint where enough lines came since the last one."""
        if self._rows.lines - self._lines >= EVERY:
            self.save()

    def keep(self) -> None:
        """Write a checkpoint of a large file where any lines came since the last one."""
        if self._rows.lines >= EVERY and self._rows.lines != self._lines:
            self.save()

    def save(self) -> None:
        """Write a checkpoint of the rows as they are; where the disk is full there is none."""
        with contextlib.suppress(RunError, OSError):
            self._hash(self._rows.size)
            about, columns = self._rows.saved()
            about |= {"form": _FORM, "identity": self._identity, "sha256": self._digest.hexdigest()}
            text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
            with replacing(self._path) as file:
                write_arrays(file, {"about": text, **columns})
        self._lines = self._rows.lines

    def _restored(self) -> bool:
        """Whether the rows have become what the checkpoint says, and what came after it."""
        try:
            with open_arrays(self._path) as columns:
                about = json.loads(columns["about"].tobytes())
                if not self._same(about):
                    return False
                self._rows.restore(about, columns)
            self._lines = self._rows.lines
            self._rows.read()
        except Exception:  # a damaged archive may raise anything; what is wrong with a row shows when all are read
            return False
        return True

    def _same(self, about: Mapping[str, Any]) -> bool:
        """Whether a checkpoint is of these rows and of this file. Raises KeyError, TypeError."""
        if about["form"] != _FORM or about["identity"] != self._identity:
            return False
        self._hash(about["size"])
        return bool(self._hashed == about["size"] and self._digest.hexdigest() == about["sha256"])

    def _hash(self, size: int) -> None:
        """Bring the digest to the first `size` bytes of the file."""
        with os.fdopen(open_plain(self._rows.path), "rb") as file:
            file.seek(self._hashed)
            for piece in pieces(file, size - self._hashed):
                self._digest.update(piece)
                self._hashed += len(piece)
