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
    "MAX_BYTES",
    "UnsafeFileError",
    "copy_files",
    "decode_json",
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
_SUBFOLDERS = frozenset({"samples", "scores", "calls", "checkpoints", "tasks", "media"})
"""The folders within a run folder; `checkpoints` has subfolders."""
_MAX_DEPTH = 2
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FIX = "A run folder contains only plain files and folders: remove it, or name another run."


class UnsafeFileError(RunError):
    """A file of a run folder is a link, not a regular file, or larger than any that creval writes."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


decode_json = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite).raw_decode
"""Decodes one JSON value at the start of a text and returns it with its end. Accepts only finite numbers."""


def parse_json(text: str) -> Any:
    """Return the value of a JSON text. Raises ValueError (also for NaN and 1e999), RecursionError."""
    value, end = decode_json(text.strip(" \t\r\n"))
    if text.strip(" \t\r\n")[end:]:
        raise ValueError("more than one value")
    return value


@contextlib.contextmanager
def _parent(path: Path, create: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the open folder of a file, and the file's name in it; with `create`, missing folders are created.

    Raises UnsafeFileError if a folder within the run folder is a link; OSError.
    """
    parts, root = [path.name], path.parent
    while root.name in _SUBFOLDERS and len(parts) <= _MAX_DEPTH:
        parts.insert(0, root.name)
        root = root.parent
    if create:
        root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, _FOLDER_FLAGS)
    try:
        for depth, part in enumerate(parts[:-1], 1):
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            try:
                inner = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise _unsafe_file("is a link, or no folder", root.joinpath(*parts[:depth])) from error
            os.close(descriptor)
            descriptor = inner
        yield descriptor, parts[-1]
    finally:
        os.close(descriptor)


def _descriptor(path: Path, flags: int, create: bool = False) -> int:
    """Open a regular file and return its descriptor.

    Raises UnsafeFileError if the file, or a folder between it and the run folder, is a link, or if the file is not a
    regular one; OSError for other failures.
    """
    try:
        with _parent(path, create) as (folder, name):
            with contextlib.suppress(FileNotFoundError):
                _check_plain(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode, path)
            descriptor = os.open(name, flags | _FILE_FLAGS, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _unsafe_file("is a link", path) from error
        raise
    try:
        _check_plain(os.fstat(descriptor).st_mode, path)
    except UnsafeFileError:
        os.close(descriptor)
        raise
    return descriptor


def _check_plain(mode: int, path: Path) -> None:
    if stat.S_ISLNK(mode):
        raise _unsafe_file("is a link", path)
    if not stat.S_ISREG(mode):
        raise _unsafe_file("is a folder" if stat.S_ISDIR(mode) else "is not a plain file", path)


def _unsafe_file(what: str, path: Path) -> UnsafeFileError:
    return UnsafeFileError(what, where=str(path), fix=_FIX)


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a file of a run folder and return its descriptor; O_CREAT creates it and its folder.

    Raises UnsafeFileError, OSError.
    """
    return _descriptor(path, flags, create=bool(flags & os.O_CREAT))


def open_new(path: Path) -> BinaryIO:
    """Create a file for writing; an existing file or link is removed first. Raises OSError, UnsafeFileError."""
    remove(path)
    return os.fdopen(_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, create=True), "wb")


def is_there(path: Path) -> bool:
    """Whether anything has this name, even a broken link."""
    return os.path.lexists(path)


def plain_size(path: Path) -> int:
    """Return the size of a file in bytes, 0 if there is none. Raises UnsafeFileError, OSError."""
    try:
        descriptor = _descriptor(path, os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def read_bytes(path: Path, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a file. Raises UnsafeFileError, also if it is larger than `limit` bytes; OSError."""
    with os.fdopen(_descriptor(path, os.O_RDONLY), "rb") as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise _unsafe_file(f"is larger than {limit:,} bytes", path)
        return file.read(limit)


def read_json(path: Path, limit: int = MAX_BYTES) -> Any:
    """Return the JSON value in a file. Raises UnsafeFileError, OSError, ValueError, RecursionError."""
    return parse_json(read_bytes(path, limit).decode("utf-8"))


def remove(path: Path) -> None:
    """Remove a file, or a link itself, if it exists. Raises OSError."""
    with contextlib.suppress(FileNotFoundError), _parent(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def rename(source: Path, target: Path) -> None:
    """Replace a file by another one, in the same or another folder of a run. Raises OSError."""
    with _parent(source) as (old, name), _parent(target) as (new, new_name):
        os.rename(name, new_name, src_dir_fd=old, dst_dir_fd=new)


def copy_files(source: Path, target: Path) -> None:
    """Copy a folder of a run with its contents.

    Raises UnsafeFileError for anything but files and folders; OSError, also before it writes a file for which the disk
    has no space.
    """
    if source.is_symlink():
        raise _unsafe_file("is a link", source)
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        path = source / entry.name
        if entry.is_dir(follow_symlinks=False):
            copy_files(path, target / entry.name)
            continue
        if plain_size(path) > shutil.disk_usage(target).free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with os.fdopen(_descriptor(path, os.O_RDONLY), "rb") as old, open_new(target / entry.name) as new:
            while block := old.read(1 << 20):
                new.write(block)
