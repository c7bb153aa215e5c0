"""Resolves `include:` and `variants:`: reads a task with everything it includes, merged into one tree.

One rule merges YAML files (`include:`) and applies the overrides of suites to tasks.

An upper tree is merged into a base:
1. Two mappings merge key by key, deeply; keys of the base come first.
2. Anything else replaces: a list or scalar of the upper tree takes the place of the base's value.
3. A null in the upper tree removes the base's key; if the base has no such key, it stays a null.

Later includes win over earlier ones, and the including file wins over all of them.

`variants:` defines several tasks in one file; they are separated before files are merged:

    variants:
      k2: {title: With two anchors, dataset: {generator: {drat_anchors: {k: 2}}}}

A variant is merged into its file by the same rule, and is called `<task>_<variant>`. It does not inherit the keys that
describe the file's own task: `tests`, `description`, `template`, and `parity` (except the reason why there is none). It
inherits everything that the file includes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from creval.errors import Problem, UsageError, nearest
from creval.tasks.task_paths import TaskFile, is_path, parse_path, strays
from creval.tasks.yaml.nodes import Node, problem_at
from creval.tasks.yaml.schema import load_schema, problems_of, validator_for
from creval.tasks.yaml.yaml_reader import Document

__all__ = ["VARIANTS", "Library", "included_files", "merge", "read_merged"]


VARIANTS = "variants"

_OF_THE_FILE = ("tests", "description", "template", "parity")

_FIXES = {
    "schema": "Write it once, at the top of the file.",
    "task": "A variant's name combines its file's task and its own key.",
    "include": "Put it at the top of the file, or make a separate file for this task.",
    VARIANTS: "A family has one level: put its variants next to this one.",
}


class VariantParts(NamedTuple):
    """The parts of a file that define one task: its own keys, the variant's keys, and their problems."""

    base: Node
    variant: Node | None = None
    problems: Sequence[Problem] = ()


def take_apart(root: Node, place: TaskFile, included: bool) -> VariantParts:
    """Return the parts of a file for the task at `place`, without the other variants.

    All variants of a file are checked, but only the requested one of an included file.
    """
    file_keys = _without(root, VARIANTS)
    section = root.get(VARIANTS)
    if place.variant is None:
        broken = section is not None and section.value is not None and not included
        return VariantParts(file_keys, None, _faults(section) if broken and section is not None else ())
    known = dict(section.value) if section is not None and section.is_mapping else {}
    variant = known.get(place.variant)
    if section is None or variant is None:
        return VariantParts(file_keys, None, [_unknown(root, place.variant, list(known))])
    faults = _faults(Node({place.variant: variant}, section.place, section.key))
    if variant.is_mapping:
        properties = _shape()["additionalProperties"]["properties"]
        variant = Node({key: node for key, node in variant.value.items() if key in properties}, variant.place)
    return VariantParts(_with_variant_name(_inherited_keys(file_keys), place.variant, variant), variant, faults)


def _inherited_keys(keys: Node) -> Node:
    """Return the keys of a file that its variants inherit; of `parity` only the reason why there is none."""
    inherited = _without(keys, *_OF_THE_FILE)
    parity = keys.get("parity")
    if parity is None or not parity.is_mapping or "none" not in parity.value:
        return inherited
    reason = Node({"none": parity.value["none"]}, parity.place, parity.key)
    return Node({**inherited.value, "parity": reason}, inherited.place, inherited.key)


def _without(root: Node, *keys: str) -> Node:
    return Node({key: node for key, node in root.value.items() if key not in keys}, root.place, root.key)


def _with_variant_name(keys: Node, variant: str, variant_node: Node) -> Node:
    task = keys.get("task")
    if task is None or not isinstance(task.value, str):
        return keys
    return Node(
        {**keys.value, "task": Node(f"{task.value}_{variant}", variant_node.place, task.key)}, keys.place, keys.key
    )


def _unknown(root: Node, name: str, known: Sequence[str]) -> Problem:
    near = nearest(name, known)
    listing = f"It has: {', '.join(known[:20])}." if known else "It has none."
    return problem_at(
        root.place, f"the file has no variant {name!r}", (VARIANTS,), f"Did you mean {near[0]!r}?" if near else listing
    )


def _faults(section: Node) -> Sequence[Problem]:
    """Return the problems of the form of variants; their content is checked with the task of each variant."""
    problems: list[Problem] = []
    variants: dict[str, Node] = {}
    for name, variant in section.value.items() if section.is_mapping else ():
        variants[name] = variant
        for key, fix in _FIXES.items():
            member = variant.get(key)
            if member is not None:
                place = member.key or member.place
                problems.append(problem_at(place, f"a variant cannot have its own {key!r}", (VARIANTS, name, key), fix))
                variants[name] = _without(variants[name], key)
    checked = Node(variants, section.place, section.key) if section.is_mapping else section
    return [*problems, *problems_of(checked, _validator(), (VARIANTS,))]


@functools.cache
def _shape() -> dict[str, Any]:
    """Return the schema of `variants:`. A variant may have the keys of a task, except those that a file states once."""
    schema = load_schema("task")
    keys = {key: True for key in schema["properties"] if key not in _FIXES}
    variant = {"type": "object", "properties": keys, "additionalProperties": False, "minProperties": 1}
    section = {key: value for key, value in schema["properties"][VARIANTS].items() if key != "description"}
    return {**section, "propertyNames": schema["$defs"]["variant_name"], "additionalProperties": variant}


@functools.cache
def _validator() -> Any:
    return validator_for(_shape())


def merge(base: Node, over: Node) -> Node:
    """Merge two nodes. Every value keeps its place in its file; a merged mapping has the place of the upper one."""
    if not (isinstance(base.value, Mapping) and isinstance(over.value, Mapping)):
        return over
    merged: dict[str, Node] = dict(base.value)
    for key, upper in over.value.items():
        lower = merged.get(key)
        if lower is None:
            merged[key] = upper
        elif upper.value is None:
            del merged[key]
        else:
            merged[key] = merge(lower, upper)
    return Node(merged, over.place, over.key)


MAX_FILES = 50


class Library(Protocol):
    """The files that may be included."""

    def find_file(self, name: str) -> TaskFile:
        """Return the file of the task or suite called `name` or `plugin/name`. Raises UsageError if there is none."""

    def read(self, file: Path) -> Document:
        """Return the content of a file, which is read once."""

    def bounds(self, file: Path) -> Sequence[Path]:
        """Return the folders that paths in a file may not leave."""


def read_merged(place: TaskFile, library: Library) -> Document:
    """Read a task with everything that its file includes.

    The tree has no key `include` (unless its value has a wrong type) and no `variants`. The result has the problems of
    all files involved; circles and missing files are reported at the `include`.
    """
    return _IncludeReader(library).read(place, (), place.file)


def included_files(place: TaskFile, library: Library) -> Iterator[TaskFile]:
    """Yield the files that a sound task's file includes, directly or not; the last include, which wins, first."""
    document = library.read(place.file)
    include = document.root.get("include") if document.root is not None else None
    names = _names(include) if include is not None else None
    for name in reversed(names or ()):
        target = _target(name, library)
        yield target
        yield from included_files(target, library)


def _target(name: Node, library: Library) -> TaskFile:
    """Return the file that an include names. Raises UsageError if there is no task of that name."""
    text = str(name.value)
    if not is_path(text):
        return library.find_file(text)
    written = parse_path(text)
    return TaskFile(name.place.file.parent / written.file, written.variant)


class _IncludeReader:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._files = 0

    def read(self, place: TaskFile, chain: tuple[Path, ...], home: Path) -> Document:
        """Read a file. Paths may not leave the folder of `home`, the file that the user named or that a name led to."""
        self._files += 1
        document = self._library.read(place.file)
        if document.root is None or not document.root.is_mapping:
            return document
        problems: list[Problem] = list(document.problems)
        own, over = document.root, None
        if "suite" not in own.value:
            parts = take_apart(own, place, included=bool(chain))
            own, over = parts.base, parts.variant
            problems.extend(parts.problems)
        include = own.get("include")
        names = None if include is None else _names(include)
        if names is not None:
            base = self._bases(names, (*chain, place.file.resolve()), home, problems)
            own = Node({key: node for key, node in own.value.items() if key != "include"}, own.place, own.key)
            own = own if base is None else merge(base, own)
        return Document(place.file, own if over is None else merge(own, over), tuple(problems))

    def _bases(
        self, names: tuple[Node, ...], chain: tuple[Path, ...], home: Path, problems: list[Problem]
    ) -> Node | None:
        """Return the included files merged; None if none could be read."""
        base: Node | None = None
        for name in names:
            included = self._include(name, chain, home, problems)
            if included is not None:
                base = included if base is None else merge(base, included)
        if base is not None and base.is_mapping:  # `template` is not inherited
            base = Node({key: node for key, node in base.value.items() if key != "template"}, base.place, base.key)
        return base

    def _include(self, name: Node, chain: tuple[Path, ...], home: Path, problems: list[Problem]) -> Node | None:
        """Return the tree of one included file, or None after noting why there is none."""
        try:
            target = _target(name, self._library)
        except UsageError as error:
            fix = f"{error.fix or ''} A file's name ends in .yaml.".strip()
            problems.append(problem_at(name.place, f"{error.what}, to be included", ("include",), fix))
            return None
        by_path = is_path(str(name.value))
        if by_path and strays(target.file, self._library.bounds(home)):
            what = f"{str(name.value)!r} is outside the folder of {home.name}; a task file reads only files in it"
            problems.append(problem_at(name.place, what, ("include",), "Put the file into that folder."))
            return None
        if not target.file.is_file():
            what = f"there is no file {str(target.file)!r} to include"
            problems.append(problem_at(name.place, what, ("include",)))
            return None
        real = target.file.resolve()
        if real in chain:
            circle = " -> ".join(str(part) for part in (*chain[chain.index(real) :], real))
            problems.append(problem_at(name.place, f"the includes form a circle: {circle}", ("include",), "Break it."))
            return None
        if self._files >= MAX_FILES:
            problems.append(problem_at(name.place, f"more than {MAX_FILES} files are included", ("include",)))
            return None
        document = self.read(target, chain, home if by_path else target.file)
        problems.extend(document.problems)
        if document.root is not None and not isinstance(document.root.value, Mapping):
            problems.append(problem_at(document.root.place, "an included file must contain a mapping"))
            return None
        return document.root


def _names(include: Node) -> tuple[Node, ...] | None:
    """Return the include entries, or None if the value has a wrong type (the schema reports it)."""
    entries = include.value if isinstance(include.value, tuple) else (include,)
    return entries if entries and all(isinstance(entry.value, str) and entry.value for entry in entries) else None
