"""A list of docs in a file: one id a line, or the table that `creval samples` writes."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from creval.errors import DataError
from creval.report.files import unguarded

__all__ = ["read_doc_ids"]

_COLUMNS = ("doc", "doc_id", "id")


def read_doc_ids(file: Path) -> list[str]:
    """Return the ids in a `.csv` or `.jsonl` (under `doc`, `doc_id` or `id`) or any other text file (one a line).

    Raises DataError where the file cannot be read, has no such column, or names no doc.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"the list of docs cannot be read: {error.strerror}", where=str(file), cure="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DataError("the list of docs is not UTF-8 text", where=str(file), cure="Save it as UTF-8.") from error
    read = {".csv": _of_csv, ".jsonl": _of_jsonl}.get(file.suffix.lower(), _of_lines)
    found = list(dict.fromkeys(doc for doc in read(text, file) if doc))
    if not found:
        raise DataError("the list names no doc", where=str(file), cure="Write one id a line.")
    return found


def _of_lines(text: str, file: Path) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _of_csv(text: str, file: Path) -> Iterator[str]:
    lines = text.splitlines()
    separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    reader = csv.DictReader(lines, delimiter=separator)
    column = next((name for name in _COLUMNS if name in (reader.fieldnames or ())), None)
    if column is None:
        raise DataError("the table has no column of docs", where=str(file), cure="Call it doc.")
    return (unguarded((row[column] or "").strip()) for row in reader)


def _of_jsonl(text: str, file: Path) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield str(next(row[name] for name in _COLUMNS if name in row))
        except (ValueError, TypeError, StopIteration, RecursionError):
            cure = 'Write {"doc": "..."} on each line.'
            raise DataError("names no doc", where=f"{file}:{number}", cure=cure) from None
