"""Source `create_published`: the published set from the Hugging Face hub, or as `creval create import` stored it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, Rows, open_file
from creval.plugin.report import write_json, write_lines
from creval_create.queries.published import DATASET, SPLIT, published_rows
from creval_datasets.huggingface import NEWEST, newest_refused, open_huggingface

__all__ = ["Imported", "home", "keep", "open_published", "sound_rows"]

Imported = dict[str, Any]


def home(options: DataOptions) -> Path:
    """Return the folder that keeps the imported set."""
    return options.cache / "data" / "create"


def keep(docs: Sequence[dict[str, Any]], origin: Imported, options: DataOptions) -> Path:
    """Write the queries, with their origin next to them (`origin`: file or data set, sha256 or revision)."""
    file = home(options) / "published.jsonl"
    write_lines(file, (json.dumps(doc, ensure_ascii=False) + "\n" for doc in docs))
    write_json(file.with_name("published.origin.json"), origin)
    return file


def open_published(
    revision: str = "newest", expected: Mapping[str, Any] | None = None, *, base: Path, options: DataOptions
) -> Rows:
    """Open the published set: the imported one, or else the hub's data set at a commit, with the checks of an import.

    Raises DataError if it is not available or differs, MissingPartError without the package datasets.
    """
    file = home(options) / "published.jsonl"
    if file.is_file():
        return open_file(file)
    rows = open_huggingface(DATASET, revision, SPLIT, base=base, options=options, expected=expected)
    try:
        docs = published_rows(sound_rows(rows), rows.origin)
    except DataError as error:
        if revision != NEWEST:
            raise
        raise newest_refused(DATASET, error.what, rows.origin, options) from error
    return ListRows(docs, rows.origin)


def sound_rows(rows: Rows) -> list[Any]:
    """Return all rows, each a mapping. Raises DataError at the first one that cannot be read."""
    found: list[Any] = []
    for row in rows:
        if not isinstance(row, Mapping):
            reason, where = getattr(row, "reason", "the row is not an object"), getattr(row, "where", rows.origin)
            raise DataError(reason, where=where, fix="Download the file again.")
        found.append(row)
    return found
