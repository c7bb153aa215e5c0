"""The files of the ledger: calls/<role>.jsonl, one line per call to a role other than the target."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from creval.errors import RunError
from creval.opener import open_plain, parse_json
from creval.runs.folder import RunFolder
from creval.runs.jsonl import Appender, drop_torn_line, read_placed
from creval.runs.run_commands import resume_command

__all__ = ["CallJournal", "CallPlace"]

_OTHER_RUN = "Remove the line, or leave out --reuse, and try again."  # a run that need not be resumed


class CallPlace(NamedTuple):
    """The position of a line: the file of a role, and the line's first byte."""

    role: str
    offset: int


class CallJournal:
    """The calls of one run. When `append` returns, the system has the line; a `read_only` journal does not write.

    It has open files, but no lines in memory. An incomplete last line, which a killed process leaves, is removed, or
    ignored in a read-only journal. Raises RunError if a file cannot be written or a line in the middle is damaged.
    """

    def __init__(self, folder: RunFolder, read_only: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only
        self._writing: dict[str, Appender] = {}
        self._reading: dict[str, BinaryIO] = {}
        if not read_only:
            for role in folder.called_roles():
                drop_torn_line(folder.calls(role))

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self._folder.path

    def lines(self) -> Iterator[tuple[CallPlace, Mapping[str, Any]]]:
        """Yield every line of every role, one at a time."""
        for role in self._folder.called_roles():
            lines = read_placed(self._folder.calls(role))
            try:
                yield from ((CallPlace(role, offset), record) for offset, record in lines)
            except RunError as error:
                if not self._read_only:
                    raise
                raise RunError(error.what, where=error.where, fix=_OTHER_RUN) from error

    def append(self, role: str, record: Mapping[str, Any]) -> CallPlace:
        """Write one line and return its position."""
        if self._read_only:
            raise RunError("the calls of another run are only read", where=str(self.path))
        if role not in self._writing:
            self._writing[role] = Appender(self._folder.calls(role))
        return CallPlace(role, self._writing[role].append(record))

    def read(self, place: CallPlace) -> Mapping[str, Any]:
        """Return the line at a position."""
        if place.role not in self._reading:
            self._reading[place.role] = os.fdopen(open_plain(self._folder.calls(place.role)), "rb")
        file = self._reading[place.role]
        file.seek(place.offset)
        record: Mapping[str, Any] = parse_json(file.readline().decode())
        return record

    def fault(self, place: CallPlace, error: Exception) -> RunError:
        """Return the error for a line that is not a call."""
        file = self._folder.calls(place.role)
        with os.fdopen(open_plain(file), "rb") as lines:
            number = lines.read(place.offset).count(b"\n") + 1
        fix = _OTHER_RUN if self._read_only else f"Remove the line, then: {resume_command(self.path)}"
        return RunError(f"the line is not a recorded call ({error!r})", where=f"{file}:{number}", fix=fix)

    def close(self) -> None:
        """Write the lines to disk and close the files."""
        for file in self._reading.values():
            file.close()
        for appender in self._writing.values():
            appender.close()
        self._reading.clear()
        self._writing.clear()
