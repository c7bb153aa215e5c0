"""Resolves `include:` and `variants:`: reads a task with all that it builds on, merged into one tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from creval.errors import Problem, UsageError
from creval.tasks.task_paths import TaskFile, is_path, parse_path, strays
from creval.tasks.yaml.merge import merge
from creval.tasks.yaml.nodes import Node, problem_at
from creval.tasks.yaml.reader import Document
from creval.tasks.yaml.variants import take_apart

__all__ = ["Library", "included_files", "read_merged"]

MAX_FILES = 50


class Library(Protocol):
    """The files that may be included."""

    def find_file(self, name: str) -> TaskFile:
        """Return where the task or suite called `name` or `plugin/name` stands. Raises UsageError: there is none."""

    def read(self, file: Path) -> Document:
        """Return what a file holds, read once."""

    def bounds(self, file: Path) -> Sequence[Path]:
        """Return the folders that no path in a file may lead out of."""


def read_merged(place: TaskFile, library: Library) -> Document:
    """Read a task with everything that its file includes.

    The tree has no key `include` (unless that key itself is of the wrong type) and no `variants`. Problems of all files
    involved are in the result; circles and missing files are reported where the `include` stands.
    """
    return _IncludeReader(library).read(place, (), place.file)


def included_files(place: TaskFile, library: Library) -> Iterator[TaskFile]:
    """Yield what the file of a sound task includes, directly or not; of several the last, which wins, first."""
    document = library.read(place.file)
    include = document.root.get("include") if document.root is not None else None
    names = _names(include) if include is not None else None
    for name in reversed(names or ()):
        target = _target(name, library)
        yield target
        yield from included_files(target, library)


def _target(name: Node, library: Library) -> TaskFile:
    """Return what an include names. Raises UsageError where there is no task of that name."""
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
        """Read a file. `home` is the one, named by the user or found by its name, whose folder no path leads out of."""
        self._files += 1
        document = self._library.read(place.file)
        if document.root is None or not document.root.is_mapping:
            return document
        problems: list[Problem] = list(document.problems)
        own, over = document.root, None
        if "suite" not in own.value:
            parts = take_apart(own, place, included=bool(chain))
            own, over = parts.own, parts.over
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
        """Return what the included files say together; None where there is none of them."""
        base: Node | None = None
        for name in names:
            included = self._include(name, chain, home, problems)
            if included is not None:
                base = included if base is None else merge(base, included)
        if base is not None and base.is_mapping:  # what is a template is not made so by what it builds on
            base = Node({key: node for key, node in base.value.items() if key != "template"}, base.place, base.key)
        return base

    def _include(self, name: Node, chain: tuple[Path, ...], home: Path, problems: list[Problem]) -> Node | None:
        """Return the tree of one included file, or None after noting why there is none."""
        try:
            target = _target(name, self._library)
        except UsageError as error:
            cure = f"{error.cure or ''} A file's name ends in .yaml.".strip()
            problems.append(problem_at(name.place, f"{error.what}, to be included", ("include",), cure))
            return None
        by_path = is_path(str(name.value))
        if by_path and strays(target.file, self._library.bounds(home)):
            what = f"{str(name.value)!r} leads out of the folder of {home.name}, and a task file reads nothing else"
            problems.append(problem_at(name.place, what, ("include",), "Put the file into that folder."))
            return None
        if not target.file.is_file():
            what = f"there is no file {str(target.file)!r} to include"
            problems.append(problem_at(name.place, what, ("include",)))
            return None
        real = target.file.resolve()
        if real in chain:
            circle = " -> ".join(str(part) for part in (*chain[chain.index(real) :], real))
            problems.append(problem_at(name.place, f"the includes go in a circle: {circle}", ("include",), "Break it."))
            return None
        if self._files >= MAX_FILES:
            problems.append(problem_at(name.place, f"more than {MAX_FILES} files are included", ("include",)))
            return None
        document = self.read(target, chain, home if by_path else target.file)
        problems.extend(document.problems)
        if document.root is not None and not isinstance(document.root.value, Mapping):
            problems.append(problem_at(document.root.place, "an included file must hold a mapping"))
            return None
        return document.root


def _names(include: Node) -> tuple[Node, ...] | None:
    """Return the include entries, or None where the value has a wrong type (the schema reports it)."""
    entries = include.value if isinstance(include.value, tuple) else (include,)
    return entries if entries and all(isinstance(entry.value, str) and entry.value for entry in entries) else None
