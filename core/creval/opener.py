"""Opens the files of a run folder, which may come from somebody else: no links, only regular files of bounded size.

The folder itself is named by the user and may be a link; its contents may not. Each part of a path below the folder is
opened from the one above (`dir_fd`) without following links, so that nothing outside of the folder is read or written.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from creval.errors import RunError

__all__ = [
    "DECODE",
    "MAX_BYTES",
    "StrangeFileError",
    "copy_files",
    "is_there",
    "open_new",
    "open_plain",
    "parse_json",
    "plain_size",
    "read_bytes",
    "read_json",
    "remove",
    "rename",
]

MAX_BYTES = 200_000_000
"""The largest file that is read as a whole; creval writes no larger ones."""
_INNER = frozenset({"samples", "scores", "calls", "checkpoints", "tasks", "media"})
"""The folders within a run folder; `checkpoints` has subfolders."""
_DEEPEST = 2
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FIX = "A run folder contains only plain files and folders: remove it, or name another run."


class StrangeFileError(RunError):
    """A file of a run folder is a link, not a regular file, or larger than any that creval writes."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


DECODE = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite).raw_decode
"""Decodes one JSON value at the start of a text and returns it with its end. Accepts only finite numbers."""


def parse_json(text: str) -> Any:
    """Return the value of a JSON text. Raises ValueError (also for NaN and 1e999), RecursionError."""
    value, end = DECODE(text.strip(" \t\r\n"))
    if text.strip(" \t\r\n")[end:]:
        raise ValueError("more than one value")
    return value


@contextlib.contextmanager
def _parent(path: Path, make: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the open folder of a file, and the file's name in it; with `make` missing folders are created.

    Raises StrangeFileError if a folder within the run's is a link, OSError.
    """
    parts, root = [path.name], path.parent
    while root.name in _INNER and len(parts) <= _DEEPEST:
        parts.insert(0, root.name)
        root = root.parent
    if make:
        root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, _FOLDER)
    try:
        for place, part in enumerate(parts[:-1], 1):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            try:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise _strange("is a link, or no folder", root.joinpath(*parts[:place])) from error
            os.close(descriptor)
            descriptor = inner
        yield descriptor, parts[-1]
    finally:
        os.close(descriptor)


def _descriptor(path: Path, flags: int, make: bool = False) -> int:
    """Open a file. Raises StrangeFileError if it, or a folder between it and the run's, is a link, or it is not a
    regular file; OSError for other failures."""
    try:
        with _parent(path, make) as (folder, name):
            with contextlib.suppress(FileNotFoundError):
                _check_plain(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, path)
            descriptor = os.open(name, flags | _SAFELY, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _strange("is a link", path) from error
        raise
    try:
        _check_plain(os.fstat(descriptor).st_mode, path)
    except StrangeFileError:
        os.close(descriptor)
        raise
    return descriptor


def _check_plain(mode: int, path: Path) -> None:
    if stat.S_ISLNK(mode):
        raise _strange("is a link", path)
    if not stat.S_ISREG(mode):
        raise _strange("is a folder" if stat.S_ISDIR(mode) else "is not a plain file", path)


def _strange(what: str, path: Path) -> StrangeFileError:
    return StrangeFileError(what, where=str(path), fix=_FIX)


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a file of a run folder and return its descriptor; O_CREAT creates it and its folder.

    Raises StrangeFileError, OSError.
    """
    return _descriptor(path, flags, make=bool(flags & os.O_CREAT))


def open_new(path: Path) -> BinaryIO:
    """Create a file for writing; an existing file or link is removed first. Raises OSError, StrangeFileError."""
    remove(path)
    return os.fdopen(_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, make=True), "wb")


def is_there(path: Path) -> bool:
    """Whether anything has this name, even a broken link."""
    return os.path.lexists(path)


def plain_size(path: Path) -> int:
    """Return the size of a file in bytes, 0 if there is none. Raises StrangeFileError, OSError."""
    try:
        descriptor = _descriptor(path, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Return the content of a file. Raises StrangeFileError, also if it is larger than `most`; OSError."""
    with os.fdopen(_descriptor(path, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _strange(f"is larger than {most:,} bytes", path)
        return file.read(most)


def read_json(path: Path, most: int = MAX_BYTES) -> Any:
    """Return the JSON value in a file. Raises StrangeFileError, OSError, ValueError, RecursionError."""
    return parse_json(read_bytes(path, most).decode("utf-8"))


def remove(path: Path) -> None:
    """Remove a file, or a link itself, if it exists. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _parent(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def rename(source: Path, target: Path) -> None:
    """Replace a file by another one, in the same or another folder of a run. Raises OSError."""
    with _parent(source) as (old, name), _parent(target) as (new, other):
        os.rename(name, other, src_dir_fd=old, dst_dir_fd=new)


def copy_files(source: Path, target: Path) -> None:
    """Copy a folder of a run with its contents. Raises StrangeFileError for anything but files and folders; OSError.

    A file for which the disk has no space is not started.
    """
    if source.is_symlink():
        raise _strange("is a link", source)
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        path = source / entry.name
        if entry.is_dir(follow_symlinks=False):
            copy_files(path, target / entry.name)
            continue
        if plain_size(path) > shutil.disk_usage(target).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with os.fdopen(_descriptor(path, os.O_RDONLY), "rb") as old, open_new(target / entry.name) as new:
            while piece := old.read(1 << 20):
                new.write(piece)
