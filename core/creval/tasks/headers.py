"""The head of a task file for lists: read in well under a millisecond, without checking or merging the file.

Only the top-level keys that a list shows are looked at. Values in plain style are read here; whatever is written in
another way, or comes from an include, goes through the YAML reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from creval.errors import Problem
from creval.tasks.scalars import resolve

__all__ = ["Head", "TaskHeader", "read_head", "read_header"]

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):(?=\s|$)")
_WANTED = ("task", "suite", "version", "title", "measures", "source", "include")
_LIST = re.compile(r"\[\s*((?:[A-Za-z][\w-]*)(?:\s*,\s*[A-Za-z][\w-]*)*)\s*\]")
_PLAIN = re.compile(r"[A-Za-z0-9][^#:\n\"'\[\]{}&*!|>%@`]*|[A-Za-z0-9][\w./+-]*", re.ASCII)
_QUOTED = re.compile(r"\"([^\"\\\n]*)\"|'([^'\n]*)'")
_MAX_BYTES = 1_000_000

Finder = Callable[[str], Path]


@dataclass(frozen=True, slots=True)
class TaskHeader:
    """What a list shows of a task or suite."""

    name: str
    plugin: str
    version: str
    title: str
    measures: Sequence[str]
    file: Path
    kind: Literal["task", "suite"]

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.name}"

    @property
    def source(self) -> Mapping[str, str]:
        """Where the task comes from in the literature; the file is read again for it."""
        from creval.tasks.yaml_reader import read_yaml

        document = read_yaml(self.file)
        section = document.root.get("source") if document.root is not None else None
        if section is None or not section.is_mapping:
            return {}
        return {
            key: str(node.value) for key, node in section.value.items() if isinstance(node.value, str | int | float)
        }


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of itself: its kind and name, and the wanted values that stand in it.

    `whole` is False where an include may add to them.
    """

    kind: Literal["task", "suite"]
    name: str
    file: Path
    values: Mapping[str, Any]
    whole: bool = True


def read_head(file: Path) -> Head | Problem:
    """Read what a file says of itself; a problem where it is neither a task nor a suite."""
    try:
        text = file.read_bytes()[:_MAX_BYTES].decode("utf-8", "replace")
    except OSError as error:
        return Problem(f"the file cannot be read: {error.strerror}", file)
    values = _scan(text)
    if values is None:
        from creval.tasks.nodes import plain
        from creval.tasks.yaml_reader import read_yaml

        document = read_yaml(file)
        if document.root is None or not document.root.is_mapping:
            return document.problems[0] if document.problems else Problem("the file holds no mapping", file, 1, 1)
        values = {key: plain(node) for key, node in document.root.value.items() if key in _WANTED}
    kind: Literal["task", "suite"] = "suite" if "suite" in values else "task"
    name = values.get(kind)
    if not isinstance(name, str) or not name:
        cure = "Name it here (an include cannot); a file that is only included has a name that starts with _."
        return Problem("the file is no task and no suite: the key 'task' is missing", file, 1, 1, cure=cure)
    return Head(kind, name, file, values, "include" not in values)


def read_header(head: Head, plugin: str, find: Finder) -> TaskHeader:
    """Complete the head of a file with what its includes say; `find` looks up included tasks by name."""
    values = head.values
    if not head.whole:
        from creval.tasks.includes import read_merged
        from creval.tasks.nodes import plain

        root = read_merged(head.file, find).root
        if root is not None and root.is_mapping:
            values = {key: plain(node) for key, node in root.value.items() if key in _WANTED}
    measures = values.get("measures")
    return TaskHeader(
        name=head.name,
        plugin=plugin,
        version=str(values.get("version", "")),
        title=str(values.get("title", "")),
        measures=tuple(str(one) for one in measures) if isinstance(measures, list) else (),
        file=head.file,
        kind=head.kind,
    )


def _scan(text: str) -> dict[str, Any] | None:
    """Return the wanted keys of a plainly written file; None where the YAML reader is needed."""
    values: dict[str, Any] = {}
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = _KEY.match(line)
        if match is None or match[1] not in _WANTED:
            continue
        key = match[1]
        if key == "source":
            continue
        following = lines[index + 1] if index + 1 < len(lines) else ""
        value = _plain_value(line[match.end() :].strip()) if not following.startswith((" ", "\t", "-")) else None
        if value is None or key in values:
            return None
        values[key] = value
    return values if "task" in values or "suite" in values else None


def _plain_value(text: str) -> Any:
    """Return the value of a text that has one obvious reading, else None."""
    text = text.split(" #", 1)[0].strip()
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return quoted[1] if quoted[1] is not None else quoted[2]
    listed = _LIST.fullmatch(text)
    if listed:
        return [word.strip() for word in listed[1].split(",")]
    if not _PLAIN.fullmatch(text):
        return None
    try:
        return resolve(text)
    except ValueError:
        return None
