"""Rows of a local file: jsonl, json, csv, tsv or parquet.

Rows of JSON Lines and CSV files are read by byte offset: only the offsets are in memory.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import orjson

from creval.data.row_types import ListRows, MalformedRow, Row, Rows
from creval.errors import DataError, MissingPartError

__all__ = ["FORMATS", "JSON", "JsonLinesRows", "open_file"]


_MARK = b"\xef\xbb\xbf"
_LONGEST_LINE = 64 * 1024 * 1024
_BLOCK = 16 * 1024  # bytes read at once: rows are mostly read in their order
_BRACE = ord("{")

_NAMES = 8  # the most columns that an error names

_SHOWN = 24  # the most characters of the data that an error quotes


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError(f"{name} is not a JSON value")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a duplicate key in an object: one of its values would be lost."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)[:_SHOWN]!r} occurs twice")
    return members


JSON = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_no_doubles)
"""The decoder of rows, which refuses constants and duplicate keys."""


class _OffsetRows:
    """Rows at known byte ranges of a file. Reading is safe from several threads (`pread`)."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.origin = str(file)
        self._starts = array("q")
        self._lengths = array("I")
        self._passed: list[tuple[int, int]] = []  # (i, n): from row i on, the line is i + n
        self._block = (0, b"")  # the last part that was read, and where it begins
        self._handle: int | None = os.open(file, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self._starts)

    def _add_position(self, start: int, end: int, line: int) -> None:
        passed = line - len(self._starts)
        if not self._passed or self._passed[-1][1] != passed:
            self._passed.append((len(self._starts), passed))
        self._starts.append(start)
        self._lengths.append(end - start)

    def _line(self, index: int) -> int:
        """Return the number of a row's first line, from 1."""
        return index + self._passed[bisect_right(self._passed, (index, sys.maxsize)) - 1][1]

    def _read_bytes(self, index: int) -> bytes:
        if self._handle is None:
            raise DataError("the dataset is closed", where=self.origin)
        start, length = self._starts[index], self._lengths[index]
        first, block = self._block
        if start < first or start + length > first + len(block):
            first, block = self._block = start, os.pread(self._handle, max(length, _BLOCK), start)
        return block[start - first : start - first + length]

    def where(self, index: int) -> str:
        return f"{self.file}:{self._line(index)}"

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


class JsonLinesRows(_OffsetRows):
    """One JSON object per line; blank lines are skipped."""

    is_json = True

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        position, rows, blanks = 0, 0, -1  # `blanks` where the last row stood
        start_at, note_length = self._starts.append, self._lengths.append
        with file.open("rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b"")):
                length = len(line)
                if length == _LONGEST_LINE:
                    raise DataError(f"a line is longer than {_LONGEST_LINE:,} bytes", where=f"{file}:{number + 1}")
                if line[0] == _BRACE or line.strip(b" \t\r\n" + _MARK):
                    if number - rows != blanks:
                        blanks = number - rows
                        self._passed.append((rows, blanks + 1))
                    start_at(position)
                    note_length(length)
                    rows += 1
                position += length

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        with self.file.open("rb") as lines:
            number = 0
            even = self._passed[0][1] if len(self._passed) == 1 else None
            for index in range(len(self)):
                wanted = self._line(index) if even is None else index + even
                while number < wanted:
                    line = next(lines)
                    number += 1
                yield self._parse(line, index)

    def row(self, index: int) -> Row:
        found = self._parse(self._read_bytes(index), index)
        if isinstance(found, MalformedRow):
            raise DataError(f"{found.reason}: the file has changed since it was opened", where=found.where)
        return found

    def _parse(self, line: bytes, index: int) -> Row | MalformedRow:
        quick = _quick(line)
        if quick is not None:
            return quick
        try:
            found = JSON.decode(line.removeprefix(_MARK).rstrip(b"\r\n").decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return MalformedRow(f"not valid JSON: {_brief(error)}", self.where(index))
        if not isinstance(found, dict):
            return MalformedRow("a line must contain a JSON object {...}", self.where(index))
        return found


def _quick(line: bytes) -> dict[str, Any] | None:
    """Return a simple row (no nested or duplicate keys, only whole numbers), or None if it may be another one."""
    try:
        row = orjson.loads(line)
    except ValueError:
        return None
    # Floats may have been larger whole numbers.
    if type(row) is not dict or not _PLAIN.issuperset(map(type, row.values())):
        return None
    colons = line.count(b":") - len(row)  # of texts, if no key is there twice
    if colons and b"\\u003" not in line:
        colons -= "".join([text for text in (*row, *row.values()) if type(text) is str]).count(":")
    return None if colons else row


_PLAIN = frozenset({str, int, bool, type(None)})

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


class CsvRows(_OffsetRows):
    """A table with a header line. All values are texts."""

    is_json = True

    def __init__(self, file: Path, delimiter: str = ",") -> None:
        super().__init__(file)
        self._delimiter = delimiter
        self._columns: list[str] = []
        self._faults: dict[int, str] = {}
        try:
            self._scan()
        except UnicodeDecodeError as error:
            raise DataError("the file is not UTF-8 text", where=str(file), fix="Save it as UTF-8.") from error
        except csv.Error as error:
            fix = "Very long texts fit better into JSON Lines." if "limit" in str(error) else None
            raise DataError(f"not valid CSV: {error}", where=str(file), fix=fix) from error

    def _scan(self) -> None:
        with self.file.open("rb") as raw:
            lines = _CountedLines(raw)
            reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
            self._columns = [name.strip() for name in next(reader, [])]
            self._check_separator()
            repeated = {name[:_SHOWN] for name in self._columns if self._columns.count(name) > 1 or not name}
            if repeated or not self._columns:
                fault = (
                    f"columns without a name or named twice: {sorted(repeated)[:_NAMES]}"
                    if repeated
                    else "the file is empty"
                )
                raise DataError(fault, where=f"{self.file}:1", fix="The first line names each column once.")
            start, line = lines.position, lines.number + 1
            for cells in reader:
                if cells:
                    self._add_position(start, lines.position, line)
                    if len(cells) != len(self._columns):
                        found = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                        self._faults[len(self) - 1] = f"the row has {found}, the header {len(self._columns)}"
                start, line = lines.position, lines.number + 1

    def _check_separator(self) -> None:
        """Refuse a header of one column that contains another separator: the table uses that one."""
        if len(self._columns) != 1:
            return
        other = next((sign for sign in _SEPARATORS if sign != self._delimiter and sign in self._columns[0]), None)
        if other is not None:
            raise DataError(
                f"the columns are separated by {_SEPARATORS[other]}, not by {_SEPARATORS[self._delimiter]}",
                where=f"{self.file}:1",
                fix="Save the table with commas (.csv) or tabs (.tsv) between its columns.",
            )

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        for index in range(len(self)):
            fault = self._faults.get(index)
            yield MalformedRow(fault, self.where(index)) if fault else self.row(index)

    def row(self, index: int) -> Row:
        text = self._read_bytes(index).decode("utf-8")
        cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=self._delimiter, strict=True), [])
        if len(cells) != len(self._columns):
            raise DataError("the file has changed since it was opened", where=self.where(index))
        return dict(zip(self._columns, cells, strict=True))


class _CountedLines:
    """Lines of text, with the byte position and line number reached."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self.position = 0
        self.number = 0

    def __iter__(self) -> _CountedLines:
        return self

    def __next__(self) -> str:
        line: bytes = next(self._raw)
        self.position += len(line)
        self.number += 1
        return (line.removeprefix(_MARK) if self.number == 1 else line).decode("utf-8")


def _brief(error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} (column {error.colno})"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    return str(error) or type(error).__name__


FORMATS: Mapping[str, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "parquet": (".parquet",),
}


def open_file(file: Path, format: str | None = None) -> Rows:
    """Open a data file; by default its extension decides the format.

    Raises DataError if the file is missing, of unknown format, or not completely readable; MissingPartError for parquet
    without pyarrow.
    """
    if not file.is_file():
        raise DataError("there is no such data file", where=str(file), fix="Check the path.")
    file_format = format or next((name for name, endings in FORMATS.items() if file.suffix.lower() in endings), None)
    if file_format not in FORMATS:
        endings = ", ".join(ending for endings in FORMATS.values() for ending in endings)
        raise DataError(
            f"the file name does not show the format: {file.suffix!r}",
            where=str(file),
            fix=f"Use one of {endings}, or set format: {' | '.join(FORMATS)}.",
        )
    if file_format == "jsonl":
        return JsonLinesRows(file)
    if file_format == "json":
        return _json_rows(file)
    if file_format == "parquet":
        return ParquetRows(file)
    return CsvRows(file, "\t" if file_format == "tsv" else ",")


def _json_rows(file: Path) -> Rows:
    try:
        content = JSON.decode(file.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg}", where=f"{file}:{error.lineno}:{error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"not valid JSON: {error}", where=str(file)) from error
    if not isinstance(content, list):
        raise DataError("the file must contain a JSON list of objects", where=str(file), fix="[{...}, {...}]")
    rows: list[Row | MalformedRow] = []
    for index, item in enumerate(content, 1):
        sound = isinstance(item, dict)
        rows.append(item if sound else MalformedRow("an item must be a JSON object {...}", f"{file}, item {index}"))
    return ListRows(rows, str(file))


class ParquetRows:
    """A Parquet file, read by row group; the last group is cached."""

    def __init__(self, file: Path) -> None:
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingPartError(
                "reading Parquet needs the package pyarrow, which is not installed",
                where=str(file),
                fix="Install it: pip install pyarrow",
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
    """Return the rows of a table or batch. Durations are decimals of seconds, with or without pandas."""
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
