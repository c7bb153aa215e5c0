"""Resolves `include:`: reads a file with all that it builds on, merged into one tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from creval.errors import Problem, UsageError
from creval.tasks.files import is_path
from creval.tasks.yaml.merge import merge
from creval.tasks.yaml.nodes import Node, problem_at
from creval.tasks.yaml.reader import Document, read_yaml

__all__ = ["Finder", "included_files", "read_merged"]

MAX_FILES = 50
Finder = Callable[[str], Path]
"""Finds the file of a task or suite by name or plugin/name; raises UsageError where there is none."""


def read_merged(file: Path, find: Finder) -> Document:
    """Read a file and everything it includes.

    The tree has no key `include` (unless that key itself is of the wrong type). Problems of all files involved are
    in the result; circles and missing files are reported where the `include` stands.
    """
    return _Reading(find).read(file, ())


def included_files(file: Path, find: Finder) -> Iterator[Path]:
    """Yield the files that a sound file includes, directly or not; of several the last, which wins, first."""
    document = read_yaml(file)
    include = document.root.get("include") if document.root is not None else None
    names = _names(include) if include is not None else None
    for name in reversed(names or ()):
        text = str(name.value)
        target = file.parent / Path(text).expanduser() if is_path(text) else find(text)
        yield target
        yield from included_files(target, find)


class _Reading:
    def __init__(self, find: Finder) -> None:
        self._find = find
        self._files = 0

    def read(self, file: Path, chain: tuple[Path, ...]) -> Document:
        self._files += 1
        document = read_yaml(file)
        root = document.root
        include = root.get("include") if root is not None else None
        if root is None or include is None:
            return document
        names = _names(include)
        if names is None:
            return document
        chain = (*chain, file.resolve())
        problems: list[Problem] = list(document.problems)
        base: Node | None = None
        for name in names:
            included = self._include(name, file, chain, problems)
            if included is not None:
                base = included if base is None else merge(base, included)
        if base is not None and base.is_mapping:  # what is a template is not made so by what it builds on
            base = Node({key: node for key, node in base.value.items() if key != "template"}, base.place, base.key)
        own = Node({key: node for key, node in root.value.items() if key != "include"}, root.place, root.key)
        return Document(file, own if base is None else merge(base, own), tuple(problems))

    def _include(self, name: Node, file: Path, chain: tuple[Path, ...], problems: list[Problem]) -> Node | None:
        """Return the tree of one included file, or None after noting why there is none."""
        text = str(name.value)
        if is_path(text):
            target = file.parent / Path(text).expanduser()
            if not target.is_file():
                problems.append(problem_at(name.place, f"there is no file {str(target)!r} to include", ("include",)))
                return None
        else:
            try:
                target = self._find(text)
            except UsageError as error:
                cure = f"{error.cure or ''} A file's name ends in .yaml.".strip()
                problems.append(problem_at(name.place, f"{error.what}, to be included", ("include",), cure))
                return None
        if target.resolve() in chain:
            circle = " -> ".join(str(part) for part in (*chain[chain.index(target.resolve()) :], target.resolve()))
            problems.append(problem_at(name.place, f"the includes go in a circle: {circle}", ("include",), "Break it."))
            return None
        if self._files >= MAX_FILES:
            problems.append(problem_at(name.place, f"more than {MAX_FILES} files are included", ("include",)))
            return None
        document = self.read(target, chain)
        problems.extend(document.problems)
        if document.root is not None and not isinstance(document.root.value, Mapping):
            problems.append(problem_at(document.root.place, "an included file must hold a mapping"))
            return None
        return document.root


def _names(include: Node) -> tuple[Node, ...] | None:
    """Return the include entries, or None where the value has a wrong type (the schema reports it)."""
    entries = include.value if isinstance(include.value, tuple) else (include,)
    return entries if entries and all(isinstance(entry.value, str) and entry.value for entry in entries) else None
