"""Arrays in a file as `numpy.savez` writes it, read as a stranger's file: no more than it holds is made of it."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from creval.engine.resuming.rows import Column
from creval.runs.opener import open_plain

__all__ = ["open_arrays", "write_arrays"]

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
