"""Files that the user named: text, lines, and tables as CSV, each written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from creval.errors import UsageError

__all__ = ["csv_text", "unwritable", "write_lines", "write_text"]


def unwritable(error: OSError, path: Path) -> UsageError:
    """Return the error for a file that the user named and that cannot be written."""
    cure = "Name a folder that you may write to."
    return UsageError(f"cannot be written: {error.strerror}", where=str(path), cure=cure)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a file, its folder made first, and return how many. Raises UsageError where that cannot be.

    The file appears when it is whole, and a former one stays until then. A link is followed, and what is no regular
    file (a device, a pipe) is written to and never replaced.
    """
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8") as file:
                return sum(1 for _ in map(file.write, lines))
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        part = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                count = sum(1 for _ in map(file.write, lines))
            part.chmod(0o644)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, path) from error
    return count


def write_text(path: Path, text: str) -> Path:
    """Write a file as `write_lines` does, and return its path."""
    write_lines(path, [text])
    return path


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; None is an empty cell, floats keep every digit that tells them apart."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return out.getvalue()
