"""The two published sets of the Hugging Face hub: which fields of theirs are used, and what of a row is kept.

HypoGen (O'Neill et al., 2025) and BookMIA (Shi et al., 2024) are neither shipped nor pinned here: a user imports one
commit, which is recorded. Of HypoGen the split `train` is read, since `test` has 50 rows and the paper uses 300.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import DataError
from creval_openended.published.drawing import drawn

__all__ = ["SETS", "PublishedSet", "kept_rows"]

NUL = "\0"
"""Stands in some excerpts of BookMIA, and in no text that anybody meant."""


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """One set: its task, where the hub has it, its split, and the fields that are kept of each row."""

    task: str
    dataset: str
    split: str
    fields: Sequence[str]


SETS = {
    each.task: each
    for each in (
        PublishedSet("hypogen", "UniverseTBD/hypogen-dr1", "train", ("bit", "flip")),
        PublishedSet("bookmia", "swj0419/BookMIA", "train", ("snippet",)),
    )
}


def kept_rows(published: PublishedSet, rows: Sequence[Mapping[str, Any]], origin: str) -> list[dict[str, str]]:
    """Return what is kept of the rows, in the order in which they are drawn, `id` being their place in the split.

    Rows with an empty field are left out. Raises DataError where the rows are not those of the set.
    """
    missing = [name for name in published.fields if rows and name not in rows[0]]
    if missing or not rows:
        found = ", ".join(map(str, rows[0])) if rows else "no rows"
        raise DataError(
            f"this is not {published.dataset}: its rows have {', '.join(published.fields)}, here are {found}",
            where=origin,
            cure=f"Give the split {published.split} of {published.dataset}.",
        )
    cleaned = [
        {"id": str(index), **{name: str(row.get(name) or "").replace(NUL, "").strip() for name in published.fields}}
        for index, row in enumerate(rows)
    ]

    def text(row: dict[str, str]) -> str:
        return "\n".join(row[name] for name in published.fields)

    return drawn([row for row in cleaned if all(row.values())], text)
