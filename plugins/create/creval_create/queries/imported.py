"""The imported published set: written by `creval create import`, read by the source `create_published`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval.plugin import DataError
from creval.plugin.data import DataOptions, Rows, open_file
from creval.plugin.report import write_json, write_lines
from creval_create.queries.published import COUNT

__all__ = ["Imported", "home", "keep", "open_published"]

Imported = dict[str, Any]


def home(options: DataOptions) -> Path:
    """Return the folder that keeps the imported set."""
    return options.cache / "data" / "create"


def keep(docs: Sequence[dict[str, Any]], origin: Imported, options: DataOptions) -> Path:
    """Write the queries, and beside them where they came from (`origin`: file or data set, sha256 or revision)."""
    file = home(options) / "published.jsonl"
    write_lines(file, (json.dumps(doc, ensure_ascii=False) + "\n" for doc in docs))
    write_json(file.with_name("published.origin.json"), origin)
    return file


def open_published(*, base: Path, options: DataOptions) -> Rows:
    """Open the imported published set. Raises DataError where it has not been imported."""
    file = home(options) / "published.jsonl"
    if not file.is_file():
        raise DataError(
            f"the {COUNT} published queries of CREATE are not here; they may not be shipped (no licence is stated)",
            where=str(file),
            fix="Fetch the split train of wadhma/CREATE from Hugging Face, then: creval create import FILE. "
            "Or play our own twenty queries: --tasks create",
        )
    return open_file(file)
