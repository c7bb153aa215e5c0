"""The lock of a run folder: a second process is refused, and a dead process leaves no lock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from creval.errors import RunError
from creval.opener import UnsafeFileError, open_plain
from creval.runs.jsonl import disk_error

__all__ = ["LOCK", "RunLock", "in_use", "is_locked"]

LOCK = ".lock"
"""The name of the lock file in a run folder."""


def is_locked(folder: Path) -> bool:
    """Whether a living process, this one or another, is working on a run."""
    return _holder(folder) is not None


def in_use(folder: Path) -> bool:
    """Whether another process is working on a run."""
    return _holder(folder) not in (None, str(os.getpid()).encode())


def _holder(folder: Path) -> bytes | None:
    """Return the id in the lock file if a process holds the lock, else None."""
    try:
        descriptor = open_plain(folder / LOCK)
    except (OSError, UnsafeFileError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(descriptor, 32).strip()
    else:
        return None
    finally:
        os.close(descriptor)


class RunLock:
    """An advisory lock on `<folder>/.lock`.

    The kernel releases it however the process ends, so kill -9 never leaves a stale lock. The file contains the process
    id only for messages. Raises RunError if another process holds the lock, or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: int | None = None

    def __enter__(self) -> RunLock:
        try:
            descriptor = open_plain(self._path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise disk_error(error, self._path) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise RunError(
                f"the run is in use by another process (process id {holder})",
                where=str(self._path.parent),
                fix="Wait for it to end; a new run can use another folder (--output).",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._file = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
