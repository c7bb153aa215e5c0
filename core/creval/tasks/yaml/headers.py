"""The heads of task files for lists: read in well under a millisecond, without checking or merging the file.

Only the top-level keys that a list shows are looked at. Values in plain style are read by `creval.tasks.yaml.scan`;
whatever is written in another way, or comes from an include, goes through the YAML reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from creval.errors import Problem, UsageError, nearest
from creval.tasks.task_paths import TaskFile, is_path, parse_path
from creval.tasks.yaml.scan import VARIANTS, WANTED, scan

if TYPE_CHECKING:
    from creval.tasks.yaml.includes import Library

__all__ = ["Family", "Head", "TaskHeader", "holds_variants", "read_head", "read_header", "read_heads"]

_MAX_BYTES = 1_000_000
_MAX_DEPTH = 20
_Known = dict[Path, Mapping[str, Any]]
_HAS_VARIANTS = rf"(?m)^[\"']?{VARIANTS}[\"']?\s*:"


@dataclass(frozen=True, slots=True)
class Family:
    """A file that declares variants: its own name, how many variants it has, and whether it is a task itself.

    It is none where the file's name starts with `_`: such a file is only what its variants share. Version and title are
    those that the file states.
    """

    name: str
    size: int
    whole: bool
    version: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class TaskHeader:
    """What a list shows of a task or suite. `variant` is its key in the family where it is a variant."""

    name: str
    plugin: str
    version: str
    title: str
    measures: Sequence[str]
    file: Path
    kind: Literal["task", "suite"]
    family: Family | None = None
    variant: str | None = None
    library: Library | None = field(default=None, repr=False, compare=False)

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.name}"

    @property
    def source(self) -> Mapping[str, str]:
        """Where the task comes from in the literature; the file and what it includes are read for it."""
        from creval.tasks.yaml.includes import read_merged

        assert self.library is not None
        root = read_merged(TaskFile(self.file, self.variant), self.library).root
        section = root.get("source") if root is not None else None
        if section is None or not section.is_mapping:
            return {}
        return {
            key: str(node.value) for key, node in section.value.items() if isinstance(node.value, str | int | float)
        }


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of one of its tasks: kind and name, and the wanted values that stand in it.

    `whole` is False where an include may add to them.
    """

    kind: Literal["task", "suite"]
    name: str
    file: Path
    values: Mapping[str, Any]
    whole: bool = True
    family: Family | None = None
    variant: str | None = None

    @property
    def place(self) -> TaskFile:
        return TaskFile(self.file, self.variant)


def read_heads(file: Path) -> Sequence[Head] | Problem:
    """Read what a file says of its tasks: itself, where it is one, and its variants."""
    head = read_head(file)
    if isinstance(head, Problem):
        return head
    variants = _members(head.values) if head.kind == "task" else {}
    if not variants:
        return (head,)
    version, title = (_shown(head.values.get(key)) for key in ("version", "title"))
    family = Family(head.name, len(variants), not file.name.startswith("_"), version, title)
    head = replace(head, family=family)
    return [*([head] if family.whole else []), *(_variant(head, name, own) for name, own in variants.items())]


def read_head(file: Path, variant: str | None = None) -> Head | Problem:
    """Read what a file says of itself, or of one variant; a problem where it is neither a task nor a suite."""
    values = _values(file)
    if isinstance(values, Problem):
        return values
    kind: Literal["task", "suite"] = "suite" if "suite" in values else "task"
    name = values.get(kind)
    if not isinstance(name, str) or not name:
        cure = "Name it here (an include cannot); a file that is only included has a name that starts with _."
        return Problem("the file is no task and no suite: the key 'task' is missing", file, 1, 1, cure=cure)
    head = Head(kind, name, file, values, "include" not in values)
    if variant is None:
        return head
    variants = _members(values) if kind == "task" else {}
    if variant not in variants:
        near = nearest(variant, list(variants))
        known = f"It has: {', '.join(list(variants)[:20])}." if variants else "It has none."
        cure = f"Did you mean {near[0]!r}?" if near else known
        return Problem(f"the file has no variant {variant!r}", file, 1, 1, VARIANTS, cure)
    return _variant(head, variant, variants[variant])


def holds_variants(file: Path) -> bool:
    """Whether a file seems to declare variants (a look at its text)."""
    text = _text(file)
    return not isinstance(text, Problem) and VARIANTS in text and re.search(_HAS_VARIANTS, text) is not None


def _variant(head: Head, key: str, own: Mapping[str, Any]) -> Head:
    return replace(head, name=f"{head.name}_{key}", values={**head.values, **own}, variant=key)


def _members(values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the variants by name; of one that is faulty nothing but its name (loading reports the fault)."""
    section = values.get(VARIANTS)
    if not isinstance(section, Mapping):
        return {}
    return {
        str(name): {key: own[key] for key in ("version", "title", "measures") if key in own}
        if isinstance(own, Mapping)
        else {}
        for name, own in section.items()
    }


def _text(file: Path) -> str | Problem:
    try:
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return Problem("there is no such file", file, cure="Check the path.")
    except OSError as error:
        return Problem(f"the file cannot be read: {error.strerror}", file)


def _values(file: Path) -> dict[str, Any] | Problem:
    """Read the wanted keys of a file."""
    text = _text(file)
    if isinstance(text, Problem):
        return text
    values = scan(text)
    if values is not None:
        return values
    from creval.tasks.yaml.nodes import plain
    from creval.tasks.yaml.reader import read_yaml

    document = read_yaml(file)
    if document.root is None or not document.root.is_mapping:
        return document.problems[0] if document.problems else Problem("the file holds no mapping", file, 1, 1)
    return {key: plain(node) for key, node in document.root.value.items() if key in WANTED}


def read_header(head: Head, plugin: str, library: Library, known: _Known) -> TaskHeader:
    """Complete the head of a file with what its includes say. `known` keeps the values of included files."""
    values = head.values if head.whole else _with_included(head.values, head.file, library, known)
    measures = values.get("measures")
    return TaskHeader(
        name=head.name,
        plugin=plugin,
        version=_shown(values.get("version")),
        title=_shown(values.get("title")),
        measures=tuple(str(one) for one in measures) if isinstance(measures, list) else (),
        file=head.file,
        kind=head.kind,
        family=head.family,
        variant=head.variant,
        library=library,
    )


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _with_included(
    values: Mapping[str, Any], file: Path, library: Library, known: _Known, depth: int = 0
) -> Mapping[str, Any]:
    """Add what the included files say. Scalars and lists replace each other whole, as in the merge rule."""
    include = values.get("include")
    names = [include] if isinstance(include, str) else include if isinstance(include, list) else []
    merged: dict[str, Any] = {}
    for name in names if depth < _MAX_DEPTH else ():
        try:
            target = parse_path(name) if is_path(name) else library.find_file(name)
        except (UsageError, TypeError):
            continue  # a list shows what it can; loading reports the fault
        included = _included(file.parent / target.file, known)
        own = _members(included).get(target.variant, {}) if target.variant is not None else {}
        merged.update(_with_included({**included, **own}, file.parent / target.file, library, known, depth + 1))
    merged.update(values)
    return merged


def _included(file: Path, known: _Known) -> Mapping[str, Any]:
    if file not in known:
        values = _values(file)
        known[file] = {} if isinstance(values, Problem) else values
    return known[file]
