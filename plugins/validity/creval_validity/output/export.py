"""Results as CSV and JSON files: the same bytes for the same result."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any

from creval.report import files
from creval_validity.output.rows import Rows

__all__ = ["csv_text", "plain", "write_csv", "write_json"]


def plain(value: Any) -> Any:
    """Return a result as plain data: dataclasses become mappings, a number that is not finite becomes None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return value


def csv_text(rows: Rows) -> str:
    """Return rows as CSV; gaps are empty cells, floats keep every digit that tells them apart."""
    return files.csv_text(rows.columns, ([plain(value) for value in row] for row in rows.rows))


def write_csv(path: Path, rows: Rows) -> Path:
    """Write rows as CSV."""
    return files.write_text(path, csv_text(rows))


def write_json(path: Path, data: Any) -> Path:
    """Write data as JSON; numbers are finite or null."""
    return files.write_text(path, json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
