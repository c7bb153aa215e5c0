"""Files that an analysis writes: text, and tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from creval.errors import UsageError

__all__ = ["csv_text", "unwritable", "write_text"]


def unwritable(error: OSError, path: Path) -> UsageError:
    """Return the error for a file that the user named and that cannot be written."""
    cure = "Name a folder that you may write to."
    return UsageError(f"cannot be written: {error.strerror}", where=str(path), cure=cure)


def write_text(path: Path, text: str) -> Path:
    """Write a file, its folder made first, and return its path. Raises UsageError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, path) from error
    return path


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; None is an empty cell, floats keep every digit that tells them apart."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return out.getvalue()
