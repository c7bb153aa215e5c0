"""Triples and paths, and the identity of names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["Path", "Triple", "as_path", "distinct", "identity", "judged_form", "normal"]

Triple = tuple[str, str, str]
"""Head entity, relationship, tail entity, as the model wrote them."""

Path = tuple[Triple, ...]
"""At least one triple, in the order of the chain."""


def normal(name: str) -> str:
    """Return a name in its normal form for comparison: NFC, case folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def identity(path: Path) -> Path:
    """Return a key that equal paths share: every part in its normal form."""
    return tuple((normal(head), normal(relation), normal(tail)) for head, relation, tail in path)


def distinct(paths: Sequence[Path]) -> list[int]:
    """Return the indices of the paths that do not repeat an earlier one."""
    seen: set[Path] = set()
    places = []
    for place, path in enumerate(paths):
        own = identity(path)
        if own not in seen:
            seen.add(own)
            places.append(place)
    return places


def judged_form(path: Path) -> str:
    """Return the path as a judge reads it: a Python list of tuples in lower case.

    The published verdicts are for texts of this form.
    """
    return repr([tuple(part.lower() for part in triple) for triple in path])


def as_path(triples: Iterable[Sequence[Any]]) -> Path:
    """Return plain data (lists of three strings) as a path."""
    return tuple((str(head), str(relation), str(tail)) for head, relation, tail in triples)
