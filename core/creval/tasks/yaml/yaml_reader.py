"""Reads a YAML file into nodes that know their line and column. Plain data only, bounded in size.

It uses PyYAML's event stream (libyaml if available) and no constructors, so no tag can run code. It refuses tags,
duplicate keys, several documents, keys that are not text, and files, nesting or alias expansion that are larger than
any task needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import yaml

from creval.errors import Problem
from creval.tasks.task_paths import is_pipe
from creval.tasks.yaml.nodes import KeyPath, Node, Place, problem_at
from creval.tasks.yaml.scalars import resolve

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "Document", "read_yaml", "read_yaml_text"]

MAX_BYTES = 1_000_000
MAX_NODES = 50_000
MAX_DEPTH = 40

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG = "tag:yaml.org,2002:str"
_UTF8_MARK = "\ufeff"


class Document(NamedTuple):
    """The content of a file. `root` is None if nothing could be read; `problems` is empty for a sound file."""

    file: Path
    root: Node | None
    problems: tuple[Problem, ...] = ()


def read_yaml(file: Path) -> Document:
    """Read a YAML file. Faults are returned in `problems`, not raised."""
    try:
        if is_pipe(file):
            return _unreadable(file, "this is not a plain file", "Name a file.")
        with file.open("rb") as stream:  # never read more than the bound, also from special files (/dev/zero)
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            return _unreadable(file, f"the file is larger than {MAX_BYTES:,} bytes, more than any task can need")
    except FileNotFoundError:
        return _unreadable(file, "there is no such file", "Check the path.")
    except IsADirectoryError:
        return _unreadable(file, "this is a folder, not a file", "Name a file in it.")
    except OSError as error:
        return _unreadable(file, f"the file cannot be read: {error.strerror}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        return Document(
            file, None, (Problem("the file is not UTF-8 text", file, line, column, fix="Save it as UTF-8."),)
        )
    return read_yaml_text(text.removeprefix(_UTF8_MARK), file)


def read_yaml_text(text: str, file: Path) -> Document:
    """Read YAML text as if it were in `file`."""
    builder = _Builder(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except _Stop:
        pass
    except yaml.MarkedYAMLError as error:
        builder.problems.append(_syntax_problem(error, text, file))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        builder.problems.append(Problem(f"the character {error.character!r} is not allowed in YAML", file, line))
    if builder.root is None and not builder.problems:
        return _unreadable(file, "the file is empty")
    return Document(file, builder.root if builder.whole else None, tuple(builder.problems))


def _unreadable(file: Path, message: str, fix: str | None = None) -> Document:
    return Document(file, None, (Problem(message, file, fix=fix),))


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: Path) -> Problem:
    unclosed = "unexpected end of stream" in (error.problem or "") and error.context_mark is not None
    mark = error.context_mark if unclosed else error.problem_mark or error.context_mark
    said = ", ".join(part for part in (error.context, error.problem) if part) or "it cannot be read"
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.splitlines()
    fix = None
    if unclosed:
        fix = "Close the quotes that are opened here."
    elif line < len(lines) and "\t" in lines[line][: column + 1]:
        fix = "Indent with blanks, not tabs."
    elif "mapping values are not allowed" in said:
        fix = "Put a text that contains ': ' in quotes, and check the indentation."
    elif said.startswith("while parsing a block"):
        fix = "Check the indentation here and above: the keys of one mapping begin in the same column."
    return Problem(f"not valid YAML: {said}", file, line + 1, column + 1, fix=fix)


class _Stop(Exception):
    """Reading cannot continue; the problem is already recorded."""


@dataclass(slots=True)
class _Open:
    """A mapping or list whose end has not been read."""

    place: Place
    anchor: str | None
    key: Place | None
    path: KeyPath
    members: dict[str, Node] | None
    items: list[Node] = field(default_factory=list)
    pending: str | None = None
    pending_place: Place | None = None
    duplicate: bool = False
    size: int = 1

    @property
    def wants_key(self) -> bool:
        return self.members is not None and self.pending is None


class _Builder:
    """Builds nodes from events with its own stack, so that deep nesting cannot exhaust Python's."""

    def __init__(self, file: Path) -> None:
        self.root: Node | None = None
        self.whole = False
        self.problems: list[Problem] = []
        self._file = file
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._documents = 0
        self._total = 0

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(
                    self._place(event), "a second document starts here; a task file contains one", "Remove the '---'."
                )
        elif isinstance(event, yaml.DocumentEndEvent):
            self.whole = self.root is not None

    def _place(self, event: Any) -> Place:
        mark = event.start_mark
        return Place(self._file, mark.line + 1, mark.column + 1)

    def _stop(self, place: Place, message: str, fix: str | None = None, shown: bool = True) -> NoReturn:
        self.problems.append(problem_at(place, message, self._path() if shown else (), fix))
        raise _Stop

    def _path(self) -> KeyPath:
        """Return the key path of the next value."""
        if not self._stack:
            return ()
        top = self._stack[-1]
        if top.members is None:
            return (*top.path, len(top.items))
        return top.path if top.pending is None else (*top.path, top.pending)

    def _check_tag(self, event: Any, place: Place) -> None:
        if event.tag not in (None, "!", _TEXT_TAG):
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            fix = "Remove the tag: a task file contains only plain data; code comes from components of plugins."
            self.problems.append(problem_at(place, f"the tag {shown!r} is not allowed", self._path(), fix))

    def _scalar(self, event: Any) -> None:
        place = self._place(event)
        if event.style in ("|", ">"):
            place = place._replace(text_line=place.line + 1)
        self._check_tag(event, place)
        if self._stack and self._stack[-1].wants_key:
            self._key(event.value, place)
            return
        value: Any = event.value
        if event.implicit[0]:
            try:
                value = resolve(event.value)
            except ValueError as error:
                self.problems.append(problem_at(place, str(error), self._path()))
                value = 0
        self._add(Node(value, place), 1, event.anchor)

    def _key(self, key: str, place: Place) -> None:
        top = self._stack[-1]
        assert top.members is not None
        first = top.members.get(key)
        top.pending, top.pending_place, top.duplicate = key, place, first is not None
        if first is not None and first.key is not None:
            message = f"the key {key!r} occurs twice; the first is on line {first.key.line}"
            self.problems.append(problem_at(place, message, (*top.path, key), "Remove one of the two."))
        elif key == "<<":
            fix = "Write the keys out, or put them in a separate file and include it."
            self.problems.append(problem_at(place, "the merge key '<<' is not supported", (*top.path, key), fix))

    def _start(self, event: Any) -> None:
        place = self._place(event)
        self._check_tag(event, place)
        if self._stack and self._stack[-1].wants_key:
            self._stop(
                place, "a key must be a text, not a mapping or list", "Put a text that starts with { or [ in quotes."
            )
        if len(self._stack) >= MAX_DEPTH:
            self._stop(place, f"the data are nested deeper than {MAX_DEPTH} levels", shown=False)
        members: dict[str, Node] | None = {} if isinstance(event, yaml.MappingStartEvent) else None
        self._stack.append(_Open(place, event.anchor, None, self._path(), members))

    def _end(self) -> None:
        done = self._stack.pop()
        value: Any = tuple(done.items) if done.members is None else done.members
        self._add(Node(value, done.place), done.size, done.anchor)

    def _alias(self, event: Any) -> None:
        place = self._place(event)
        if self._stack and self._stack[-1].wants_key:
            self._stop(place, "an alias cannot be a key")
        if event.anchor not in self._anchors:
            self._stop(place, f"the alias *{event.anchor} has no finished anchor above it", "Write the value out.")
        node, size = self._anchors[event.anchor]
        self._add(replace(node, key=None), size, None)

    def _add(self, node: Node, size: int, anchor: str | None) -> None:
        self._total += 1
        if anchor is not None:
            self._anchors[anchor] = (node, size)
        if self._stack:
            top = self._stack[-1]
            top.size += size
            # Aliases share their nodes in memory, but code that walks the data visits them each time.
            if max(top.size, self._total) > MAX_NODES:
                self._stop(
                    node.place, f"more than {MAX_NODES:,} values, aliases written out", "Move data to a dataset file."
                )
            if top.members is None:
                top.items.append(node)
            else:
                assert top.pending is not None
                if not top.duplicate:
                    top.members[top.pending] = replace(node, key=top.pending_place)
                top.pending = None
        else:
            self.root = node
