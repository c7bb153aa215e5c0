"""The MacGyver workbook as its makers publish it, made from the rows of the reference data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval_openended.published.macgyver import COLUMNS

__all__ = ["MACGYVER_PAIRS", "write_workbook"]

MACGYVER_PAIRS = "macgyver/problem_solution_pair.jsonl"


def write_workbook(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into the first sheet of a new workbook."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(COLUMNS))
    for row in rows:
        sheet.append([row[name] for name in COLUMNS])
    book.save(file)
