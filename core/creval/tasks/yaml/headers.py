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

from creval.errors import Problem, UsageError
from creval.tasks.files import is_path
from creval.tasks.yaml.scalars import resolve

__all__ = ["Head", "TaskHeader", "read_head", "read_header"]

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):(?=\s|$)")
_WANTED = ("task", "suite", "version", "title", "measures", "source", "include")
_LIST = re.compile(r"\[\s*((?:[A-Za-z][\w-]*)(?:\s*,\s*[A-Za-z][\w-]*)*)\s*\]")
_PLAIN = re.compile(r"[\w./](?:[^\n:]|:(?=\S))*")
_QUOTED = re.compile(r"\"([^\"\\\n]*)\"|'([^'\n]*)'")
_MAX_BYTES = 1_000_000
_MAX_DEPTH = 20

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
        from creval.tasks.yaml.reader import read_yaml

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
    values = _values(file)
    if isinstance(values, Problem):
        return values
    kind: Literal["task", "suite"] = "suite" if "suite" in values else "task"
    name = values.get(kind)
    if not isinstance(name, str) or not name:
        cure = "Name it here (an include cannot); a file that is only included has a name that starts with _."
        return Problem("the file is no task and no suite: the key 'task' is missing", file, 1, 1, cure=cure)
    return Head(kind, name, file, values, "include" not in values)


def _values(file: Path) -> dict[str, Any] | Problem:
    """Read the wanted keys of a file."""
    try:
        with file.open("rb") as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        return Problem(f"the file cannot be read: {error.strerror}", file)
    values = _scan(text)
    if values is not None:
        return values
    from creval.tasks.yaml.nodes import plain
    from creval.tasks.yaml.reader import read_yaml

    document = read_yaml(file)
    if document.root is None or not document.root.is_mapping:
        return document.problems[0] if document.problems else Problem("the file holds no mapping", file, 1, 1)
    return {key: plain(node) for key, node in document.root.value.items() if key in _WANTED}


def read_header(head: Head, plugin: str, find: Finder) -> TaskHeader:
    """Complete the head of a file with what its includes say; `find` looks up included tasks by name."""
    values = head.values if head.whole else _with_included(head.values, head.file, find, 0)
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


def _with_included(values: Mapping[str, Any], file: Path, find: Finder, depth: int) -> Mapping[str, Any]:
    """Add what the included files say. Scalars and lists replace each other whole, as in the merge rule."""
    include = values.get("include")
    names = [include] if isinstance(include, str) else include if isinstance(include, list) else []
    merged: dict[str, Any] = {}
    for name in names if depth < _MAX_DEPTH else ():
        try:
            target = file.parent / Path(name).expanduser() if is_path(name) else find(name)
        except (UsageError, TypeError):
            continue  # a list shows what it can; loading reports the fault
        included = _values(target)
        if not isinstance(included, Problem):
            merged.update(_with_included(included, target, find, depth + 1))
    merged.update(values)
    return merged


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
    if not values and not any(_KEY.match(line) for line in lines):
        return None
    return values


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
