"""Checkpoints: what the rows of a large file say, so that whoever goes on with its run need not read them again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from creval.engine.resuming.archive import open_arrays, write_arrays
from creval.engine.resuming.rows import Rows
from creval.errors import RunError
from creval.runs.jsonl import pieces, replacing
from creval.runs.opener import open_plain

__all__ = ["EVERY", "Checkpoint"]

EVERY = 50_000
"""A checkpoint is written after so many further lines; smaller files have none."""

_FORM = 1


class Checkpoint:
    """The checkpoint of one file of rows. It may be lost at any time: then the rows are read.

    It holds for the file as it was, which its sha256 says: what it tells of the first `size` bytes is taken only where
    these are the same bytes, and where `identity`, what the rows were planned by, is the same.
    """

    def __init__(self, path: Path, rows: Rows[Any], identity: str) -> None:
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
