"""Writes a task's scores: a new file beside the old one, which takes its place when it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from creval.engine.codec import score_data
from creval.engine.jsonl import dump_line
from creval.errors import RunError
from creval.types.sample import SampleScore

__all__ = ["ScoreWriter"]


class ScoreWriter:
    """A context manager; on an error the old scores stay as they were. Raises RunError where the disk is full."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._beside = path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self) -> ScoreWriter:
        self._file = self._beside.open("wb")
        return self

    def write(self, score: SampleScore) -> None:
        """Write one score as a line."""
        try:
            self._file.write(dump_line(score_data(score)))
        except OSError as error:
            raise RunError(f"cannot write a score: {error.strerror}", where=str(self._path)) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._file.close()
            self._beside.unlink(missing_ok=True)
            return
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._beside.replace(self._path)
