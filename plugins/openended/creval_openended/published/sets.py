"""The two published sets of the Hugging Face hub: the fields that are used, and the rows that are kept.

HypoGen (O'Neill et al., 2025) and BookMIA (Shi et al., 2024) are neither shipped nor pinned here: a user imports one
commit, which is recorded. Of HypoGen the split `train` is read, since `test` has 50 rows and the paper uses 300.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import DataError

__all__ = ["SETS", "PublishedSet", "kept_rows"]

NUL = "\0"
"""Occurs in some excerpts of BookMIA by mistake."""
ID_LENGTH = 12


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """One set: its task, its address on the hub, its split, and the fields to keep of each row."""

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
    """Return the rows to keep, each with an `id` that is the beginning of the sha256 of its text.

    So the docs that a task samples by their ids do not depend on the order of the file. Rows with an empty field and
    duplicate rows are left out. Raises DataError if the rows are not those of the set.
    """
    missing = [name for name in published.fields if rows and name not in rows[0]]
    if missing or not rows:
        found = ", ".join(map(str, rows[0])) if rows else "no rows"
        raise DataError(
            f"this is not {published.dataset}: its rows have {', '.join(published.fields)}, here are {found}",
            where=origin,
            fix=f"Give the split {published.split} of {published.dataset}.",
        )
    kept: dict[str, dict[str, str]] = {}
    for row in rows:
        fields = {name: str(row.get(name) or "").replace(NUL, "").strip() for name in published.fields}
        if all(fields.values()):
            text = "\n".join(fields.values()).encode("utf-8", "surrogatepass")
            name = hashlib.sha256(text).hexdigest()[:ID_LENGTH]
            kept.setdefault(name, {"id": name, **fields})
    return list(kept.values())
