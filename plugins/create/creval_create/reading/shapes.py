"""Interpret a value: the triples of one path, or several paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval_create.paths.triples import Path, Triple
from creval_create.reading.values import Pairs, UnreadableError, read_value

__all__ = ["paths_of"]

_INSIDE = {"path", "paths", "triple", "triples", "chain", "connection", "connections", "answer"}
_PARTS: Mapping[str, int] = {
    **dict.fromkeys(("head", "head entity", "subject", "source", "entity1", "entity 1"), 0),
    **dict.fromkeys(("relationship", "relation", "predicate"), 1),
    **dict.fromkeys(("tail", "tail entity", "object", "target", "entity2", "entity 2"), 2),
}


def paths_of(value: Any) -> list[Path]:
    """Return the paths in a value, usually one.

    A path is a list of triples, an object with a list under `path` or a similar key, or a single triple. A triple
    has three parts: in a list, in an object with named parts, or in a string that is a tuple. Raises UnreadableError.
    """
    if isinstance(value, Pairs):
        return _of_object(value)
    if not isinstance(value, list) or not value:
        raise UnreadableError("no triples", 0)
    if _is_triple_like(value):
        return [(_triple(value, 1),)]
    if all(_is_several(item) for item in value):
        return [path for item in value for path in paths_of(item)]
    return [tuple(_triple(item, number) for number, item in enumerate(value, 1))]


def _of_object(pairs: Pairs) -> list[Path]:
    named = {_word(key): value for key, value in pairs}
    inner = [named[word] for word in _INSIDE if word in named]
    if len(inner) == 1:
        return paths_of(inner[0])
    if {_PARTS.get(word) for word in named} >= {0, 1, 2}:
        return [(_triple(pairs, 1),)]
    return paths_of([value for _, value in pairs])


def _is_triple_like(value: list[Any]) -> bool:
    """Return whether a list contains only names, and no tuples written as strings."""
    return all(item is None or (isinstance(item, str) and not _is_written(item)) for item in value)


def _is_written(name: str) -> bool:
    return name.strip().startswith(("(", "[")) and name.strip().endswith((")", "]")) and name.count(",") >= 2


def _is_several(item: Any) -> bool:
    """Return whether an item is a whole path rather than a triple."""
    if isinstance(item, Pairs):
        return any(_word(key) in _INSIDE for key, _ in item)
    return isinstance(item, list) and bool(item) and all(isinstance(part, list) for part in item)


def _triple(value: Any, number: int) -> Triple:
    if isinstance(value, Pairs):
        value = _named_parts(value, number)
    elif isinstance(value, str) and _is_written(value):
        written = value.strip()
        value, end = read_value(f"{written} ", 0)
        if end < len(written):
            raise UnreadableError(f"triple {number} is more than one", 0)
    if not isinstance(value, list):
        raise UnreadableError(f"triple {number} is not a list of three", 0)
    if len(value) != 3:
        raise UnreadableError(f"triple {number} has {len(value)} parts", 0)
    head, relation, tail = (part.strip() if isinstance(part, str) else "" for part in value)
    if not (head and relation and tail):
        raise UnreadableError(f"triple {number} has a part that is not a name", 0)
    return head, relation, tail


def _named_parts(pairs: Pairs, number: int) -> list[Any]:
    parts: dict[int, Any] = {}
    for key, value in pairs:
        place = _PARTS.get(_word(key))
        if place is None or place in parts:
            raise UnreadableError(f"triple {number} has a part {key[:40]!r}", 0)
        parts[place] = value
    return [parts[place] for place in sorted(parts)]


def _word(key: str) -> str:
    return " ".join(key.lower().replace("_", " ").split())
