"""Sources `hypogen` and `bookmia`: the sets as `creval openended import` keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import DataError, UsageError
from creval.plugin.data import DataOptions, ListRows, Rows
from creval.plugin.report import write_json, write_lines
from creval_openended.published.sets import SETS
from creval_openended.stepwise.sentences import SPLITTER, split_sentences

__all__ = ["keep", "open_bookmia", "open_hypogen", "story_frame"]


def keep(task: str, rows: Sequence[Mapping[str, str]], origin: Mapping[str, Any], options: DataOptions) -> Path:
    """Write the rows of a set, and beside them where they came from (file or data set, sha256 or commit)."""
    file = _file(task, options)
    write_lines(file, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    write_json(file.with_suffix(".origin.json"), dict(origin))
    return file


def open_hypogen(*, base: Path, options: DataOptions) -> Rows:
    """Return docs with `id`, `bit` and `flip`. Raises DataError where the set was not imported."""
    return _docs("hypogen", _imported("hypogen", options))


def open_bookmia(
    sentences: Sequence[int] = (2, 2),
    between: int = 60,
    splitter: str = SPLITTER,
    *,
    base: Path,
    options: DataOptions,
) -> Rows:
    """Return docs with `id`, `starter` and `ending`: (first, last) so many sentences of an excerpt.

    Excerpts with fewer than `between` words left in the middle are passed over. `splitter` names the rule that tells
    sentences; a task states it so that it is part of what the task is. Raises DataError, UsageError.
    """
    if splitter != SPLITTER:
        raise UsageError(f"there is no splitter {splitter!r}", where="dataset: splitter", fix=f"There is {SPLITTER}.")
    rows = _imported("bookmia", options)
    framed = ((row["id"], story_frame(row["snippet"], sentences[0], sentences[-1], between)) for row in rows)
    return _docs("bookmia", ({"id": name, **frame} for name, frame in framed if frame is not None))


def story_frame(excerpt: str, starter: int, ending: int, between: int) -> dict[str, str] | None:
    """Return the first and last sentences of an excerpt, or None where too little stands between them."""
    sentences = split_sentences(" ".join(excerpt.split()))
    middle = sentences[starter : len(sentences) - ending]
    if len(sentences) <= starter + ending or sum(len(sentence.split()) for sentence in middle) < between:
        return None
    return {"starter": " ".join(sentences[:starter]), "ending": " ".join(sentences[-ending:])}


def _docs(task: str, rows: Iterable[Mapping[str, str]]) -> Rows:
    return ListRows(list(rows), f"the imported rows of {SETS[task].dataset}")


def _imported(task: str, options: DataOptions) -> Iterator[Mapping[str, str]]:
    file = _file(task, options)
    if not file.is_file():
        published = SETS[task]
        raise DataError(
            f"the problems of {task} ({published.dataset}) are not here; they are not shipped, and no commit is preset",
            where=str(file),
            fix=f"Take a commit from https://huggingface.co/datasets/{published.dataset}/commits/main and run once: "
            f"creval openended import {task} --revision COMMIT. Or play ten of our own: --tasks {task}_own",
        )
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _file(task: str, options: DataOptions) -> Path:
    return options.cache / "data" / "openended" / f"{task}.jsonl"
