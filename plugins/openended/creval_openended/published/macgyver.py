"""Source `macgyver`: the MacGyver problems (Tian et al., 2024), from their authors' workbook.

The workbook is fetched at one commit and pinned by the sha256 of its rows in a canonical form, which does not depend on
how the file is compressed. The paper takes 300 of the 1,306 solvable problems and does not name them: `choice: paper`
is our reading, the first 300 of a permutation (numpy's default_rng(42)), stored as a list of ids, since numpy does not
guarantee its stream.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from creval.plugin import DataError, MissingPartError
from creval.plugin.data import DataOptions, ListRows, Rows, download, offline_fix
from creval_openended.published.wording import WordingName, released_wording

__all__ = [
    "ADDRESS",
    "COLUMNS",
    "COMMIT",
    "ROWS_SHA256",
    "fetched",
    "open_macgyver",
    "published_rows",
    "read_workbook",
    "rows_digest",
]

COMMIT = "5e3ecc9d1b4b2edca554cc019420b675194709dc"
ADDRESS = f"https://raw.githubusercontent.com/allenai/MacGyver/{COMMIT}/data/MacGyver/problem_solution_pair.xlsx"
COLUMNS = ("ID", "Problem", "Solvable?", "Unconventional?", "Solution", "Label")
ROWS_SHA256 = "3e0abebc4738b29bb6b9dd8971e6d9719ad311ba5a7de2c1fba198b38c9a0220"
"""Of the 1,683 rows, one JSON array of texts per line, in the workbook's order."""

_MAX_BYTES = 20_000_000
Row = Mapping[str, Any]


def open_macgyver(
    choice: Literal["paper", "solvable"] = "paper",
    url: str = ADDRESS,
    wording: Literal["ours"] | WordingName = "ours",
    *,
    base: Path,
    options: DataOptions,
) -> Rows:
    """Return the problems as docs with `id` and `problem`: the 300, or all 1,306 solvable ones in the file's order.

    With `wording: released` each has the field `wording`, the texts that the authors sent to GPT models, and with
    `llama`, `vicuna` or `mixtral` those for these models (`released_wording`).
    `url` may name a copy of the workbook; its rows must be the same. Raises DataError if it is not available or
    differs, MissingPartError without openpyxl.
    """
    said = {} if wording == "ours" else {"wording": released_wording(options, name=wording)}
    rows = published_rows(url, options)
    solvable = {str(row["ID"]): str(row["Problem"]) for row in rows if row["Solvable?"] == "Yes"}
    ids = paper_ids() if choice == "paper" else list(solvable)
    return ListRows([{"id": name, "problem": solvable[name], **said} for name in ids], f"MacGyver at {COMMIT[:12]}")


def published_rows(url: str, options: DataOptions) -> Sequence[Row]:
    """Return the rows of the workbook, fetched once. Raises DataError, MissingPartError."""
    return read_workbook(fetched(url, _check, f"macgyver-{COMMIT[:12]}.xlsx", options))


def fetched(url: str, check: Callable[[Path], None], name: str, options: DataOptions) -> Path:
    """Return the file of this name in the cache; if it is missing, fetch it from `url` and check it first."""
    file = options.cache / "data" / name
    if not file.is_file():
        if options.offline:
            raise DataError(
                f"{name} of MacGyver is not in the cache, and --offline forbids the network",
                where=url,
                fix=offline_fix(options),
            )
        download(url, check, file, _MAX_BYTES)
    return file


def paper_ids() -> list[str]:
    """Return the ids of the 300 problems, in order."""
    return files("creval_openended").joinpath("data", "macgyver_300.txt").read_text(encoding="utf-8").split()


def read_workbook(file: Path) -> Sequence[Row]:
    """Return the rows of the workbook's first sheet. Raises DataError, MissingPartError."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingPartError(
            "the MacGyver problems come as a workbook, which needs the package openpyxl",
            fix="Install it: pip install openpyxl",
        ) from error
    try:
        with file.open("rb") as opened:  # by content: a file has no suffix while it is being fetched
            sheet = load_workbook(opened, read_only=True, data_only=True).worksheets[0].iter_rows(values_only=True)
            head = [str(name) for name in next(sheet, ())]
            filled = (values for values in sheet if any(value is not None for value in values))
            rows = [dict(zip(head, values, strict=False)) for values in filled]
    except Exception as error:  # a workbook is a zip of XML: damage raises many types
        raise DataError(f"the workbook cannot be read: {error}", where=str(file), fix="Fetch it again.") from error
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise DataError(f"the workbook has no column {missing[0]!r}", where=str(file))
    return rows


def rows_digest(rows: Iterable[Row]) -> str:
    """Return the sha256 of rows in the canonical form: one line per row, the JSON array of its columns as texts."""
    digest = hashlib.sha256()
    for row in rows:
        values: Sequence[str | None] = [None if row[name] is None else str(row[name]) for name in COLUMNS]
        digest.update((json.dumps(values, ensure_ascii=False) + "\n").encode())
    return digest.hexdigest()


def _check(file: Path) -> None:
    found = rows_digest(read_workbook(file))
    if found != ROWS_SHA256:
        raise DataError(
            f"these are not the MacGyver problems of commit {COMMIT[:12]}: their rows have the sha256 {found}",
            fix="Name an unchanged copy of the workbook.",
        )
