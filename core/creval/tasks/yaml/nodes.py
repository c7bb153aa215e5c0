"""YAML data with the position of each key and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from creval.errors import Problem

__all__ = ["KeyPath", "Node", "Place", "format_path", "locate", "plain", "problem_at", "walk"]

KeyPath = tuple[str | int, ...]


class Place(NamedTuple):
    """A position in a file; line and column count from 1. `text_line` is the first line of a block scalar's text."""

    file: Path
    line: int
    column: int
    text_line: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its place, and the place of its key where it is a member of a mapping.

    `value` is a scalar (str, int, float, bool, None), a tuple of nodes, or a mapping of str to node.
    """

    value: Any
    place: Place
    key: Place | None = None

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, Mapping)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, tuple)

    def get(self, key: str) -> Node | None:
        """Return the member of a mapping, or None (also if this is not a mapping)."""
        found = self.value.get(key) if isinstance(self.value, Mapping) else None
        return found if isinstance(found, Node) else None


def plain(node: Node) -> Any:
    """Return the data without places: dicts, lists and scalars."""
    if isinstance(node.value, Mapping):
        return {key: plain(member) for key, member in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(member) for member in node.value]
    return node.value


def walk(node: Node, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Node]]:
    """Yield this node and every node below it with its key path, in the order of the file."""
    yield path, node
    if isinstance(node.value, Mapping):
        for key, member in node.value.items():
            yield from walk(member, (*path, key))
    elif isinstance(node.value, tuple):
        for index, member in enumerate(node.value):
            yield from walk(member, (*path, index))


def locate(node: Node, path: KeyPath) -> Node:
    """Return the node at a key path, or the deepest one on the way to it."""
    for step in path:
        member: Any = None
        if isinstance(node.value, Mapping):
            member = node.value.get(step)
        elif isinstance(node.value, tuple) and isinstance(step, int) and step < len(node.value):
            member = node.value[step]
        if member is None:
            break
        node = member
    return node


def format_path(path: KeyPath) -> str:
    """Write a key path as messages show it: `score[0].drat.k`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def problem_at(place: Place, message: str, path: KeyPath = (), fix: str | None = None) -> Problem:
    """Return a problem at this place. The message is a clause without a full stop."""
    return Problem(message, place.file, place.line, place.column, format_path(path), fix)
