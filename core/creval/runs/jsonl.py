"""JSON Lines files that survive a crash: each line is appended in one write."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from creval.errors import RunError
from creval.exact_json import quick_dumps, quick_loads
from creval.opener import decode_json, open_new, open_plain, remove, rename
from creval.runs.run_commands import resume_command

__all__ = [
    "Appender",
    "Line",
    "UnstorableError",
    "cut_out",
    "disk_error",
    "drop_torn_line",
    "dump_line",
    "keep_lines",
    "numbered_lines",
    "pieces",
    "read_lines",
    "read_placed",
    "replacing",
    "whole_lines",
    "write_json",
]

_PIECE = 1 << 20
_LONGEST = 1 << 28  # bytes of a line
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class UnstorableError(RunError):
    """A record contains NaN or something that is not plain data."""


def dump_line(record: Mapping[str, Any]) -> bytes:
    """Encode one record as a line. Raises UnstorableError if it contains NaN or something that is not plain data.

    Lone surrogates, which may occur in answers, are kept as JSON escapes.
    """
    line = quick_dumps(record)
    if line is not None:
        return line + b"\n"
    try:
        text = _ENCODE(record)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnstorableError(
            f"it cannot be stored: {error}", fix="Report plain finite numbers, texts, lists and mappings."
        ) from error
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"


class Appender:
    """Appends lines to a file. When `append` returns, the line has been handed to the system.

    Nothing is buffered in the process, so a killed process loses no finished line. Raises RunError if the disk is full
    or not writable, and removes a partially written line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = open_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            raise disk_error(error, path) from error
        self._end = os.lseek(self._file, 0, os.SEEK_END)

    def append(self, record: Mapping[str, Any]) -> int:
        """Append one record as a line and return its position in bytes.

        Raises UnstorableError, without writing, if it is not plain data.
        """
        return self.append_line(dump_line(record))

    def append_line(self, line: bytes) -> int:
        """Append a line with its line break, and return its position in bytes."""
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:] if written else line)
        except OSError as error:
            with contextlib.suppress(OSError):  # an incomplete line is removed when the run is resumed
                os.ftruncate(self._file, self._end)
            raise disk_error(error, self._path) from error
        self._end += written
        return self._end - written

    def close(self) -> None:
        """Write the lines to disk and close the file."""
        if self._file < 0:
            return
        descriptor, self._file = self._file, -1
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise disk_error(error, self._path) from error
        finally:
            os.close(descriptor)


class DiskError(RunError):
    """A file of a run folder cannot be written. `first` is the step that has to come first."""

    def __init__(self, what: str, path: Path, first: str, then: str) -> None:
        super().__init__(what, where=str(path), fix=f"{first}, then {then}")
        self.first = first

    def then(self, words: str) -> DiskError:
        """Return this error with another second step, if resuming the run is not the right one."""
        self.fix = f"{self.first}, then {words}"
        return self


def disk_error(error: OSError, path: Path) -> DiskError:
    """Return the error, with a fix, for a file of a run folder that cannot be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    folder = path.parent.parent if path.suffix == ".jsonl" else path.parent
    resumable = error.errno != errno.ENAMETOOLONG and (folder / "run.json").exists()
    then = f"continue with: {resume_command(folder)}" if resumable else "try again."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return DiskError("too many files are open", path, "Raise the limit (ulimit -n 4096)", then)
    parent = next((folder for folder in path.parents if os.path.lexists(folder)), path)
    if os.path.isfile(parent):  # noqa: PTH113
        return DiskError("is a file, and a run needs a folder", parent, "Name a new folder, e.g. runs/first", then)
    what = "the disk is full" if full else f"cannot be written: {error.strerror}"
    return DiskError(what, path, "Free some space" if full else "Repair this", then)


def drop_torn_line(path: Path) -> bool:
    """Remove an incomplete last line, which a killed process leaves. Return whether there was one."""
    try:
        descriptor = open_plain(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    with os.fdopen(descriptor, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            if size - end > _LONGEST:
                raise _too_long(path)
            start = max(0, end - 65536)
            file.seek(start)
            line_break = file.read(end - start).rfind(b"\n")
            if line_break >= 0:
                end = start + line_break + 1
                break
            end = start
        if end == size:
            return False
        file.truncate(end)
        return True


def _too_long(path: Path, number: int | None = None) -> RunError:
    where = str(path) if number is None else f"{path}:{number}"
    return RunError(f"a line is longer than {_LONGEST:,} bytes", where=where, fix="Creval writes none: remove it.")


class Line(NamedTuple):
    """A complete line of a file, not decoded yet; `number` counts from 1, `start` is its position in bytes."""

    text: bytes
    number: int
    start: int
    path: Path

    def record(self) -> dict[str, Any]:
        """Return the record in the line. Raises RunError with file and line if it is damaged."""
        record = quick_loads(self.text)
        if type(record) is dict:
            return record
        try:
            text = self.text.decode()
            record, end = decode_json(text)
            if not isinstance(record, dict) or text[end:].strip():
                raise ValueError("it is not one JSON object")
        except (ValueError, RecursionError) as error:
            fix = f"Remove the line, then: {resume_command(self.path.parent.parent)}"
            raise RunError(f"a damaged line: {error}", where=f"{self.path}:{self.number}", fix=fix) from error
        return record


def whole_lines(path: Path, start: int = 0, before: int = 0) -> Iterator[Line]:
    """Yield the lines of a file, one at a time, without an incomplete last line; none for a missing file.

    Reading begins at the byte `start`, where a line begins, after `before` others.
    """
    try:
        descriptor = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(f"cannot be read: {error.strerror}", where=str(path)) from error
    with os.fdopen(descriptor, "rb") as file:
        file.seek(start)
        for number in itertools.count(before + 1):
            text = file.readline(_LONGEST)
            if not text.endswith(b"\n"):
                if len(text) == _LONGEST:
                    raise _too_long(path, number)
                return
            yield Line(text, number, start, path)
            start += len(text)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file, one at a time, without an incomplete last line.

    Raises RunError with file and line if a line in the middle is damaged.
    """
    for line in whole_lines(path):
        yield line.record()


def numbered_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of `read_lines`, each with its line number, from 1."""
    for line in whole_lines(path):
        yield line.number, line.record()


def read_placed(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of `read_lines`, each with the position of its line in bytes."""
    for line in whole_lines(path):
        yield line.start, line.record()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file next to `path`, which replaces it when complete, and is removed otherwise. Raises RunError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open_new(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        rename(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            remove(temporary)
        raise disk_error(error, path) from error


def keep_lines(path: Path, keep: Callable[[Mapping[str, Any]], bool]) -> None:
    """Rewrite a file with the records for which `keep` is true, completely or not at all; lines stay unchanged."""
    with replacing(path) as target, os.fdopen(open_plain(path), "rb") as source:
        for line in source:
            if line.endswith(b"\n") and keep(decode_json(line.decode())[0]):
                target.write(line)


def cut_out(path: Path, parts: Iterable[tuple[int, int]]) -> None:
    """Rewrite a file without these parts (from, to; in bytes, ascending), completely or not at all."""
    with replacing(path) as target, os.fdopen(open_plain(path), "rb") as source:
        for start, end in parts:
            target.writelines(pieces(source, start - source.tell()))
            source.seek(end)
        shutil.copyfileobj(source, target, _PIECE)


def pieces(file: BinaryIO, count: int) -> Iterator[bytes]:
    """Yield the next `count` bytes of a file (or fewer at its end), piece by piece."""
    while count > 0 and (piece := file.read(min(count, _PIECE))):
        yield piece
        count -= len(piece)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file completely or not at all (by renaming). Raises RunError for NaN and a full disk."""
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise UnstorableError(f"not a number in the data: {error}", where=str(path)) from error
    with replacing(path) as file:
        file.write((text + "\n").encode("utf-8", "backslashreplace"))
