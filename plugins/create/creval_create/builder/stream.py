"""Stream triples from files, and draw random numbers that depend only on a seed and on names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from creval.plugin import DataError

__all__ = ["Edge", "draw", "triples"]


class Edge(NamedTuple):
    """One triple of the graph."""

    head: str
    relation: str
    tail: str


def triples(files: Sequence[Path]) -> Iterator[Edge]:
    """Yield the triples of tab-separated files, line by line. Raises DataError at a malformed line."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                parts = line.rstrip("\r\n").split("\t")
                if len(parts) != 3 or not all(parts):
                    raise DataError(
                        f"{len(parts)} columns instead of head, relation and tail, separated by tabs",
                        where=f"{file}:{number}",
                        fix="Write one triple per line: Q42<TAB>P106<TAB>Q36180",
                    )
                yield Edge(*parts)


def draw(seed: int, *names: str) -> int:
    """Return a number below 2^64 that is the same for the same seed and names, whatever the order of the lines."""
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
