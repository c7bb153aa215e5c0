"""Reading a CSV of scores: one row per model, one column per score."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from creval.plugin import DataError
from creval_validity.tables.score_table import ScoreTable

__all__ = ["MISSING", "read_csv", "read_csv_text"]

MISSING = frozenset({"", "-", "–", "—", "na", "n/a", "nan", "null", "none", "."})
_MAX_BYTES = 50_000_000
_TEXT_COLUMNS = ("model", "provider", "date")

Rename = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a row, for messages."""

    file: str
    line: int


def read_csv(path: Path | str, canonical: Rename | None = None) -> ScoreTable:
    """Read scores from a CSV file (UTF-8, comma, header row).

    Column `model` is required; `provider` and `date` (ISO 8601, the public release) are recognised; every
    other column contains numbers. Empty cells, dashes, `NA`, `NaN`, `null` and `none` are gaps. `canonical`
    converts a model name to its canonical name (see `creval_validity.tables.aliases`).

    Raises DataError naming file and line for a missing or repeated header, a cell that is not a number, an
    infinite value, a row of the wrong length, or a model that occurs twice.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise DataError(f"larger than {_MAX_BYTES} bytes", where=str(file), fix="Split the table.")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(file), fix="Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", where=str(file), fix="Save it as UTF-8.") from error
    return read_csv_text(text, str(file), canonical)


def read_csv_text(text: str, where: str, canonical: Rename | None = None) -> ScoreTable:
    """Read scores from CSV text; `where` is its name in messages. See `read_csv`."""
    reader = csv.reader(io.StringIO(text), strict=True)
    cells: dict[str, dict[str, float]] = {}
    lines: dict[str, int] = {}
    providers: dict[str, str] = {}
    dates: dict[str, date] = {}
    try:
        header = _header(next(reader, []), where)
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            place = _Place(where, reader.line_num)
            record = _record(header, row, place)
            model = (canonical or str)(record["model"])
            if model in cells:
                raise DataError(
                    f"model {model!r} occurs twice (first on line {lines[model]})",
                    where=f"{where}:{place.line}",
                    fix="Keep one row per model; give another setting of it its own name.",
                )
            cells[model] = _numbers(record, place)
            lines[model] = place.line
            if record.get("provider"):
                providers[model] = record["provider"]
            if record.get("date", "").lower() not in MISSING:
                dates[model] = _date(record["date"], place)
    except csv.Error as error:
        raise DataError(f"is not a CSV table: {error}", where=f"{where}:{reader.line_num}") from error
    if not cells:
        raise DataError("contains no models", where=where, fix="Write one row per model under the header.")
    numeric = [name for name in header if name not in _TEXT_COLUMNS]
    table = ScoreTable.from_cells(cells, numeric)
    return ScoreTable(table.models, table.columns, providers, dates)


def _header(row: Sequence[str], where: str) -> list[str]:
    header = [cell.strip() for cell in row]
    lowered = [name.lower() for name in header]
    header = [low if low in _TEXT_COLUMNS else name for name, low in zip(header, lowered, strict=True)]
    if "model" not in header:
        from creval.plugin import nearest

        near = nearest("model", header)
        hint = f" Is it {near[0]!r}?" if near else ""
        raise DataError(f"has no column 'model'.{hint}", where=f"{where}:1", fix="Name the models' column 'model'.")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise DataError(f"columns occur twice: {', '.join(twice)}", where=f"{where}:1", fix="Rename one of them.")
    if "" in header:
        raise DataError(f"column {header.index('') + 1} has no name", where=f"{where}:1", fix="Name it or drop it.")
    return header


def _record(header: Sequence[str], row: Sequence[str], place: _Place) -> dict[str, str]:
    if len(row) != len(header):
        raise DataError(
            f"has {len(row)} cells where the header has {len(header)}",
            where=f"{place.file}:{place.line}",
            fix="Leave a gap as an empty cell; quote text that contains a comma.",
        )
    record = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    if not record["model"]:
        raise DataError("has no model name", where=f"{place.file}:{place.line}", fix="Fill the column 'model'.")
    return record


def _numbers(record: Mapping[str, str], place: _Place) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, cell in record.items():
        if name in _TEXT_COLUMNS or cell.lower() in MISSING:
            continue
        try:
            value = float(cell)
        except ValueError:
            value = math.inf
        if not math.isfinite(value):
            raise DataError(
                f"{cell[:40]!r} in column {name!r} is not a finite number",
                where=f"{place.file}:{place.line}",
                fix="Write a number, or leave the cell empty if there is none.",
            )
        numbers[name] = value
    return numbers


def _date(cell: str, place: _Place) -> date:
    try:
        return date.fromisoformat(cell)
    except ValueError as error:
        raise DataError(
            f"{cell[:40]!r} in column 'date' is not a date", where=f"{place.file}:{place.line}", fix="Write 2025-08-07."
        ) from error
