"""One process a run folder: the second is refused, a dead process leaves nothing behind."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType

from creval.errors import RunError
from creval.opener import StrangeFileError, open_plain
from creval.runs.jsonl import disk_error

__all__ = ["LOCK", "RunLock", "in_use", "is_locked"]

LOCK = ".lock"
"""The name of the lock's file in a run folder."""


def is_locked(folder: Path) -> bool:
    """Whether a living process, this one or another, is at work on a run."""
    return _holder(folder) is not None


def in_use(folder: Path) -> bool:
    """Whether another process is at work on a run."""
    return _holder(folder) not in (None, str(os.getpid()).encode())


def _holder(folder: Path) -> bytes | None:
    """Return what the lock's file says of the process that holds it; None where no process does."""
    try:
        descriptor = open_plain(folder / LOCK)
    except (OSError, StrangeFileError):
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
    """An advisory lock on `<folder>/.lock`, held as long as the process lives.

    The kernel drops it when the process ends, however it ends, so kill -9 never leaves a stale lock. The file holds
    the process id for the message only. Raises RunError where another process holds it, or the folder
    cannot be written.
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
                fix="Wait for it to end; a new run may take another folder (--output).",
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
