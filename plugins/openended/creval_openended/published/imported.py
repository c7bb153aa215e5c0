"""Sources `hypogen` and `bookmia`: the sets from the Hugging Face hub, or as `creval openended import` stored them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import DataError, UsageError
from creval.plugin.data import DataOptions, ListRows, Rows
from creval.plugin.report import write_json, write_lines
from creval_datasets.huggingface import open_huggingface
from creval_openended.published.sets import SETS, kept_rows
from creval_openended.stepwise.sentences import SPLITTER, split_sentences

__all__ = ["keep", "open_bookmia", "open_hypogen", "sound_rows", "story_frame"]

NEWEST = "newest"


def keep(task: str, rows: Sequence[Mapping[str, str]], origin: Mapping[str, Any], options: DataOptions) -> Path:
    """Write the rows of a set, and next to them their origin (file or data set, sha256 or commit)."""
    file = _file(task, options)
    write_lines(file, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_json(file.with_suffix(".origin.json"), dict(origin))
    return file


def open_hypogen(
    revision: str = NEWEST, expected: Mapping[str, Any] | None = None, *, base: Path, options: DataOptions
) -> Rows:
    """Return docs with `id`, `bit` and `flip`. Raises DataError if the set is not available or not as `expected`."""
    rows, origin = _published("hypogen", options, revision, expected)
    return ListRows(list(rows), origin)


def open_bookmia(
    sentences: Sequence[int] = (2, 2),
    between: int = 60,
    splitter: str = SPLITTER,
    *,
    base: Path,
    options: DataOptions,
    **hub: Any,
) -> Rows:
    """Return docs with `id`, `starter` and `ending`; `sentences` counts an excerpt's (first, last) sentences.

    Excerpts with fewer than `between` words left in the middle are skipped. `splitter` names the rule that splits
    sentences; a task states it because it is part of the task; `hub` holds `revision` and
    `expected`, as in `open_hypogen`. Raises DataError, UsageError.
    """
    if splitter != SPLITTER:
        raise UsageError(f"there is no splitter {splitter!r}", where="dataset: splitter", fix=f"There is {SPLITTER}.")
    rows, origin = _published("bookmia", options, **hub)
    framed = ((row["id"], story_frame(row["snippet"], sentences[0], sentences[-1], between)) for row in rows)
    return ListRows([{"id": name, **frame} for name, frame in framed if frame is not None], origin)


def story_frame(excerpt: str, starter: int, ending: int, between: int) -> dict[str, str] | None:
    """Return the first and last sentences of an excerpt, or None if too few words are between them."""
    sentences = split_sentences(" ".join(excerpt.split()))
    middle = sentences[starter : len(sentences) - ending]
    if len(sentences) <= starter + ending or sum(len(sentence.split()) for sentence in middle) < between:
        return None
    return {"starter": " ".join(sentences[:starter]), "ending": " ".join(sentences[-ending:])}


def _published(
    task: str, options: DataOptions, revision: str = NEWEST, expected: Mapping[str, Any] | None = None
) -> tuple[Iterable[Mapping[str, str]], str]:
    """Return the rows of a set and their origin: the imported file, or else the hub's data set."""
    published = SETS[task]
    file = _file(task, options)
    if file.is_file():
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines], f"the imported rows of {published.dataset}"
    selection = {"columns": list(published.fields), "expected": expected}
    rows = open_huggingface(published.dataset, revision, published.split, base=Path(), options=options, **selection)
    return kept_rows(published, sound_rows(rows), rows.origin), rows.origin


def sound_rows(rows: Rows) -> list[Mapping[str, Any]]:
    """Return all rows. Raises DataError at the first one that cannot be read."""
    found: list[Mapping[str, Any]] = []
    for row in rows:
        if not isinstance(row, Mapping):
            reason, where = getattr(row, "reason", "the row is not an object"), getattr(row, "where", rows.origin)
            raise DataError(reason, where=where, fix="Download the file again.")
        found.append(row)
    return found


def _file(task: str, options: DataOptions) -> Path:
    return options.cache / "data" / "openended" / f"{task}.jsonl"
