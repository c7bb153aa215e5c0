"""Rows of a local file in any of the formats: jsonl, json, csv, tsv, parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from creval.data.row_types import ListRows, MalformedRow, Row, Rows
from creval.data.tables.text_files import JSON, CsvRows, JsonLinesRows
from creval.errors import DataError, MissingPartError

__all__ = ["FORMATS", "open_file"]

FORMATS: Mapping[str, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet",),
}


def open_file(file: Path, format: str | None = None) -> Rows:
    """Open a data file; the format is that of its ending where none is given.

    Raises DataError where the file is missing, of no known format, or not readable as a whole; MissingPartError for
    parquet without pyarrow.
    """
    if not file.is_file():
        raise DataError("there is no such data file", where=str(file), cure="Check the path.")
    wanted = format or next((name for name, endings in FORMATS.items() if file.suffix.lower() in endings), None)
    if wanted not in FORMATS:
        endings = ", ".join(ending for endings in FORMATS.values() for ending in endings)
        raise DataError(
            f"the format of the file cannot be told from its ending {file.suffix!r}",
            where=str(file),
            cure=f"Use one of {endings}, or say format: {' | '.join(FORMATS)}.",
        )
    if wanted == "jsonl":
        return JsonLinesRows(file)
    if wanted == "json":
        return _json_rows(file)
    if wanted == "parquet":
        return ParquetRows(file)
    return CsvRows(file, "\t" if wanted == "tsv" else ",")


def _json_rows(file: Path) -> Rows:
    try:
        content = JSON.decode(file.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg}", where=f"{file}:{error.lineno}:{error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not valid JSON: {error}", where=str(file)) from error
    if not isinstance(content, list):
        raise DataError("the file must hold a JSON list of objects", where=str(file), cure="[{...}, {...}]")
    rows: list[Row | MalformedRow] = []
    for index, item in enumerate(content, 1):
        sound = isinstance(item, dict)
        rows.append(item if sound else MalformedRow("an item must be a JSON object {...}", f"{file}, item {index}"))
    return ListRows(rows, str(file))


class ParquetRows:
    """A Parquet file, read by row group; the group read last is kept."""

    def __init__(self, file: Path) -> None:
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingPartError(
                "reading Parquet needs the package pyarrow, which is not installed",
                where=str(file),
                cure="Install it: pip install pyarrow",
            ) from error
        self.file = file
        self.origin = str(file)
        try:
            self._parquet = parquet.ParquetFile(file)
        except (OSError, ValueError) as error:
            raise DataError(f"not a valid Parquet file: {error}", where=str(file)) from error
        metadata = self._parquet.metadata
        self._group_ends: list[int] = []
        for group in range(metadata.num_row_groups):
            self._group_ends.append((self._group_ends or [0])[-1] + metadata.row_group(group).num_rows)
        self._kept: tuple[int, Any] | None = None

    def __len__(self) -> int:
        return self._group_ends[-1] if self._group_ends else 0

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        for batch in self._parquet.iter_batches(batch_size=1000):
            yield from _rows_of(batch)

    def row(self, index: int) -> Row:
        group = next(number for number, end in enumerate(self._group_ends) if index < end)
        kept = self._kept
        if kept is None or kept[0] != group:
            kept = (group, self._parquet.read_row_group(group))
            self._kept = kept
        start = self._group_ends[group - 1] if group else 0
        found: Mapping[str, Any] = _rows_of(kept[1].slice(index - start, 1))[0]
        return found

    def where(self, index: int) -> str:
        return f"{self.file}, row {index + 1}"

    def close(self) -> None:
        self._parquet.close()


def _rows_of(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table or batch. Durations are decimals of seconds, whether pandas is installed or not."""
    import pyarrow

    columns: dict[str, list[Any]] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        kind = column.type
        if pyarrow.types.is_duration(kind):
            places = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
            counts = column.cast(pyarrow.int64()).to_pylist()
            columns[name] = [None if count is None else Decimal(count).scaleb(-places) for count in counts]
            continue
        try:
            columns[name] = column.to_pylist()
        except ValueError:  # nanoseconds, without pandas
            texts = column.cast(pyarrow.string()).to_pylist()
            columns[name] = [None if text is None else text.replace(" ", "T") for text in texts]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
