"""Write trajectories to a file; writing can be resumed after any interruption."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from creval.plugin import DataError, UsageError
from creval_kumo.trajectories.stream import trajectory_lines
from creval_kumo.trajectories.trajectory_lines import KEY_DIGITS, LineMaker, TrajectorySet

__all__ = ["Written", "write_trajectories"]

_HEAD = b'{"key": "'
_FLUSH_EVERY = 1000
_FIX = "Choose another --output, or remove the file."


@dataclass(frozen=True, slots=True)
class Written:
    """The number of lines in the file before, and the number added."""

    found: int
    added: int


def write_trajectories(
    games: TrajectorySet, count: int, output: Path, workers: int = 1, progress: Callable[[int], None] | None = None
) -> Written:
    """Write the first `count` trajectories of a set to `output`, or resume a file of the same set.

    A truncated line is dropped. `progress` is called periodically with the number of lines.

    Raises:
        UsageError: the file contains something else, or another process is writing it.
        DataError: the file cannot be written, or no further game can be found.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("a+b") as file:
            _lock(file, output)
            seen = _resume(file, games, output)
            found = len(seen)
            for number, line in enumerate(trajectory_lines(games, found, count, seen, workers), start=found + 1):
                file.write(line.encode())
                if number % _FLUSH_EVERY == 0:
                    file.flush()
                    if progress is not None:
                        progress(number)
    except OSError as error:
        raise DataError(f"the file cannot be written: {error.strerror or error}", where=str(output)) from error
    return Written(found, max(0, count - found))


def _lock(file: BinaryIO, output: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            "another process writes this file", where=str(output), fix="Wait for it, or choose another --output."
        ) from None


def _resume(file: BinaryIO, games: TrajectorySet, output: Path) -> set[bytes]:
    """Return the keys of the complete lines of the file, truncate the rest, and check the last line against the set."""
    seen: set[bytes] = set()
    last, end = b"", 0
    file.seek(0)
    for line in file:
        if not line.endswith(b"\n"):
            if not (line.startswith(_HEAD) or _HEAD.startswith(line)):
                raise _other_file(output, len(seen) + 1)
            break
        seen.add(_key(line, output, len(seen) + 1))
        last, end = line, end + len(line)
    file.truncate(end)
    file.seek(0, os.SEEK_END)
    if last:
        _check_last(last, seen, games, output)
    return seen


def _key(line: bytes, output: Path, number: int) -> bytes:
    digits = line[len(_HEAD) : len(_HEAD) + KEY_DIGITS]
    if line.startswith(_HEAD) and len(digits) == KEY_DIGITS:
        try:
            return bytes.fromhex(digits.decode("ascii"))
        except ValueError:
            pass
    raise _other_file(output, number)


def _other_file(output: Path, line: int) -> UsageError:
    return UsageError("the file contains something other than trajectories", where=f"{output}:{line}", fix=_FIX)


def _check_last(last: bytes, seen: set[bytes], games: TrajectorySet, output: Path) -> None:
    maker = LineMaker(games)
    number = len(seen) - 1
    key = _key(last, output, len(seen))
    maker.maker.seen = seen - {key}
    if maker.line(maker.maker.make(number)).encode() != last:
        raise UsageError(
            "the file contains the trajectories of another domain, size or seed",
            where=f"{output}:{number + 1}",
            fix=_FIX,
        )
