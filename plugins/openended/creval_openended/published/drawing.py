"""Which rows of a published data set are taken: a rule that depends on the rows alone.

The paper takes 300 of each set and does not name them. Rows are put into the order of the sha256 of their text, so that
the same are drawn whatever the order of the file, and whatever library reads it; of equal texts the first counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["drawn"]

RowT = TypeVar("RowT")


def drawn(rows: Iterable[RowT], text: Callable[[RowT], str]) -> list[RowT]:
    """Return the different rows in the order of the sha256 of their `text`."""
    found: dict[str, RowT] = {}
    for row in rows:
        found.setdefault(hashlib.sha256(text(row).encode("utf-8", "surrogatepass")).hexdigest(), row)
    return [found[digest] for digest in sorted(found)]
