"""The source `reasoning_gym`: items as docs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, Rows
from creval_reasoning_gym.library import Made, entry, need_library, open_set
from creval_reasoning_gym.solutions import stored_answer

__all__ = ["ItemSettings", "made_of", "open_items"]


class ItemSettings(TypedDict, total=False):
    """The keys of `dataset` that a task file may leave out."""

    size: int
    seed: int
    settings: Mapping[str, Any]
    levels: Sequence[int]


def open_items(name: str, library: str, *, base: Path, options: DataOptions, **given: Unpack[ItemSettings]) -> Rows:
    """Return a row for each item: its question and right answer (at each of the levels), and its origin.

    Raises DataError for another version of the library, settings that the generator refuses, items that it cannot make.
    """
    found = need_library()
    if found != library:
        raise DataError(
            f"the task was written with Reasoning Gym {library}, and {found} is installed",
            where=f"reasoning_gym/{name}",
            fix=f"pip install reasoning-gym=={library}, or start a new run, which takes the installed one.",
        )
    size, seed = given.get("size", 50), given.get("seed", 42)
    settings = json.dumps(dict(given.get("settings") or {}), sort_keys=True)
    at: Sequence[int | None] = given.get("levels") or [None]
    every = [Made(name, size, seed, settings, level) for level in at]
    for made in every:
        open_set(made)
    try:
        rows = [_row(every, index, size) for index in range(size)]
    except Exception as error:  # a generator may raise any error
        what = f"Reasoning Gym cannot make the items of {name}: {type(error).__name__}: {error}"
        raise DataError(what, where="dataset", fix="Change size, seed or settings.") from error
    return ListRows(rows, f"reasoning-gym {library} {name}")


def _row(every: Sequence[Made], index: int, size: int) -> dict[str, Any]:
    items = [entry(made, index) for made in every]
    others = [entry(made, (index + 1) % size) for made in every]
    first = every[0]
    row: dict[str, Any] = {
        "id": f"{first.name}-{index}",
        "question": str(items[0]["question"]),
        "answer": stored_answer(items[0]),
        "other": stored_answer(others[0]),
        "made": {"name": first.name, "index": index, "size": size, "seed": first.seed, "settings": first.settings},
    }
    if first.level is None:
        return row
    at_levels = {
        str(made.level): {
            "question": str(item["question"]),
            "answer": stored_answer(item),
            "other": stored_answer(other),
        }
        for made, item, other in zip(every, items, others, strict=True)
    }
    return {**row, "levels": at_levels}


def made_of(doc: Mapping[str, Any], level: int | None) -> tuple[Made, int]:
    """Return the origin of a doc's item at a level, and its index."""
    made = doc["made"]
    return Made(made["name"], made["size"], made["seed"], made["settings"], level), made["index"]
