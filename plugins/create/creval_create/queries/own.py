"""Our own twenty queries, and the hand-made paths to them with their judgements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from creval_create.paths.triples import Path, as_path

__all__ = ["JudgedPath", "Kind", "judged_paths", "own_queries"]

Kind = Literal["floor", "ceiling", "false"]


@dataclass(frozen=True, slots=True)
class JudgedPath:
    """A path with our judgement of each triple: the size of its larger class, and whether it is true.

    `kind`: the one generic path of a query (`floor`), one of its strong and diverse ones (`ceiling`), or one with a
    false triple (`false`).
    """

    query: str
    kind: Kind
    path: Path
    class_sizes: tuple[int, ...]
    factual: tuple[bool, ...]


def _rows(file: str) -> Iterator[dict[str, Any]]:
    text = files("creval_create").joinpath("data", file).read_text(encoding="utf-8")
    return map(json.loads, text.splitlines())


@cache
def own_queries() -> tuple[dict[str, Any], ...]:
    """Return the queries: id, domain, query, entity_a, rel_b, entity_b."""
    return tuple(_rows("queries.jsonl"))


@cache
def judged_paths() -> tuple[JudgedPath, ...]:
    """Return all hand-made paths, query by query."""
    return tuple(
        JudgedPath(
            row["query"],
            row["kind"],
            as_path(row["path"]),
            tuple(row["class_sizes"]),
            tuple(row["factual"]),
        )
        for row in _rows("judged_paths.jsonl")
    )
