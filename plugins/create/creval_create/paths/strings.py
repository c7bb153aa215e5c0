"""The string of a path, `str(u)` of Eq. 8, which the encoder reads.

The paper does not define it. Of the forms tried, only this one gives the distances of its Tables 5 and 7: lower case,
the first head dropped, ` [r] t`, then `h [r] t`, joined by ` | `, without the last triple, which the query prescribes.
"""

from __future__ import annotations

from typing import Literal

from creval_create.paths.triples import Path

__all__ = ["Extent", "own_part", "path_string"]

Extent = Literal["left_out", "counted"]
"""Whether the last triple, which the query prescribes, is included."""


def own_part(path: Path, last_triple: Extent) -> Path:
    """Return the triples that count: all but the last; the only triple of a path counts."""
    return path[:-1] if last_triple == "left_out" and len(path) > 1 else path


def path_string(path: Path, last_triple: Extent = "left_out") -> str:
    """Return the string of a path; `counted` takes the whole path in the same style."""
    head, *rest = own_part(path, last_triple)
    parts = [f" [{head[1]}] {head[2]}", *(f"{triple[0]} [{triple[1]}] {triple[2]}" for triple in rest)]
    return " | ".join(parts).lower()
