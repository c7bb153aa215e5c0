"""The heads of task files for lists: read in well under a millisecond, without checking or merging the file.

Only the top-level keys that a list shows are read. `scan` reads values in plain style from the lines of a file, as long
as they have one obvious meaning; for anything else, and for includes, the YAML reader is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from creval.errors import Problem, UsageError, nearest
from creval.tasks.task_paths import TaskFile, is_path, is_pipe, parse_path
from creval.tasks.yaml.scalars import resolve

if TYPE_CHECKING:
    from creval.tasks.yaml.includes import Library

__all__ = [
    "VARIANTS",
    "Family",
    "Head",
    "TaskHeader",
    "holds_variants",
    "read_head",
    "read_header",
    "read_heads",
    "scan",
]


VARIANTS = "variants"

WANTED = ("task", "suite", "version", "title", "measures", "source", "include", VARIANTS)
"""The keys that a list of tasks shows."""

_OF_VARIANT = ("version", "title", "measures")

_KEY = re.compile(r"([A-Za-z0-9_]+):(?=\s|$)")

_LIST = re.compile(r"\[\s*((?:[A-Za-z][\w-]*)(?:\s*,\s*[A-Za-z][\w-]*)*)\s*\]")

_PLAIN = re.compile(r"[\w./](?:[^\n:]|:(?=\S))*")

_ANY_QUOTED = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^']*'")

_BLOCK_TEXT = r"(?:^|[:\-?]\s+)[|>][-+0-9]*$"

_BLOCK_ENDS = frozenset("|>+-0123456789")

_FLOW_TITLE = r"\{\s*title:\s*(\"[^\"\\]*\"|'[^']*'|[A-Za-z][\w ./()-]*)\s*[,}]"

_FLOW_WANTED = r"(?:\b(?:title|version|measures)|\0)\s*:"


def scan(text: str) -> dict[str, Any] | None:
    """Return the wanted keys of a plainly written file except `source`, or None if the YAML reader is needed.

    The value of `variants` maps each variant's name to the version, title and measures that it states.
    """
    values: dict[str, Any] = {}
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = _KEY.match(line)
        if match is None or match[1] not in WANTED:
            continue
        key = match[1]
        if key == "source":
            continue
        rest = line[match.end() :].strip()
        following = lines[index + 1] if index + 1 < len(lines) else ""
        value: Any
        if key == VARIANTS:
            value = _variants(_indented(lines[index + 1 :])) if not rest or rest.startswith("#") else None
        else:
            value = _plain_value(rest) if not following.startswith((" ", "\t", "-")) else None
        if value is None or key in values:
            return None
        values[key] = value
    if not values and not any(_KEY.match(line) for line in lines):
        return None
    return values


def _plain_value(text: str) -> Any:
    """Return the value of a text that has one obvious meaning, else None."""
    text = text.split(" #", 1)[0].strip()
    quote = text[:1]
    if quote in ("'", '"') and len(text) > 1 and text[-1] == quote:
        return None if quote in text[1:-1] or ("\\" in text and quote == '"') else text[1:-1]
    listed = _LIST.fullmatch(text)
    if listed:
        return [word.strip() for word in listed[1].split(",")]
    if not _PLAIN.fullmatch(text):
        return None
    try:
        return resolve(text)
    except ValueError:
        return None


def _indented(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines before the next one that begins at the margin."""
    end = next((i for i, line in enumerate(lines) if line and not line.startswith((" ", "\t", "#"))), len(lines))
    return lines[:end]


def _variants(lines: Sequence[str]) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the variants that are in the lines below `variants:`, by name."""
    variants: dict[str, dict[str, Any]] = {}
    outer: int | None = None
    inner: int | None = None  # the indentation of a variant's own keys
    open_key: str | None = None  # the wanted key of the line before
    text_below: int | None = None  # the indentation of the key that a block of text belongs to
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip(" "))
        if not text or (text_below is not None and depth > text_below):
            continue
        if text.startswith("#"):
            continue
        unquoted = _without_quotes(text)
        if unquoted is None or line.startswith("\t", depth):
            return None
        text_below = depth if unquoted[-1:] in _BLOCK_ENDS and re.search(_BLOCK_TEXT, unquoted) else None
        outer = depth if outer is None else outer
        if depth == outer:
            match = _KEY.match(text)
            flow_text = text[match.end() :].strip() if match else ""
            values = _flow(flow_text, unquoted)
            if match is None or not _is_name(match[1]) or values is None or match[1] in variants:
                return None
            variants[match[1]] = values
            inner, open_key = (-1 if flow_text and not flow_text.startswith("#") else None), None
            continue
        inner = depth if inner is None else inner
        if depth < inner or inner < 0 or not variants or (depth > inner and open_key):
            return None
        if depth > inner:
            continue
        key = _KEY.match(text)
        if key is None:
            return None
        open_key = key[1] if key[1] in _OF_VARIANT else None
        if open_key is not None:
            last_variant = list(variants.values())[-1]
            value = _plain_value(text[key.end() :].strip())
            if value is None or open_key in last_variant:
                return None
            last_variant[open_key] = value
    return variants or None


def _without_quotes(text: str) -> str | None:
    """Return a line without comments, with NUL for each quoted text; None if it leaves a quote or bracket open."""
    unquoted = _ANY_QUOTED.sub("\0", text).split(" #", 1)[0].rstrip()
    closed = sum(map(unquoted.count, "{[")) == sum(map(unquoted.count, "}]"))
    return unquoted if closed and '"' not in unquoted and "'" not in unquoted else None


def _is_name(text: str) -> bool:
    return text == text.lower() and not text.startswith("_")


def _flow(text: str, unquoted: str) -> dict[str, Any] | None:
    """Return the keys of a variant written in one line, `{title: ..., ...}`; `unquoted` is the line without quotes."""
    if not text or text.startswith("#"):
        return {}
    keys = re.findall(_FLOW_WANTED, unquoted)
    if not (text.startswith("{") and unquoted.endswith("}")) or "\\" in text:
        return None
    if not keys:
        return {}
    title = re.match(_FLOW_TITLE, text)
    value = _plain_value(title[1].strip()) if title else None
    return {"title": value} if len(keys) == 1 and value is not None else None


_MAX_BYTES = 1_000_000

_MAX_DEPTH = 20

_Known = dict[Path, Mapping[str, Any]]

_HAS_VARIANTS = rf"(?m)^[\"']?{VARIANTS}[\"']?\s*:"


class Family(NamedTuple):
    """A file that declares variants: its own name, how many variants it has, and whether it is a task itself.

    A file whose name starts with `_` is not a task: it only holds what its variants share. Version and title are those
    that the file states.
    """

    name: str
    size: int
    whole: bool
    version: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class TaskHeader:
    """A list entry for a task or suite. `variant` is its key in the family if it is a variant."""

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


class Head(NamedTuple):
    """The head of one task in a file: kind and name, and the wanted values that are in the file.

    `whole` is False if an include may add to them.
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
    """Read the heads of a file's tasks: of the file itself, if it is one, and of its variants."""
    head = read_head(file)
    if isinstance(head, Problem):
        return head
    variants = _members(head.values) if head.kind == "task" else {}
    if not variants:
        return (head,)
    version, title = (_cell_text(head.values.get(key)) for key in ("version", "title"))
    family = Family(head.name, len(variants), not file.name.startswith("_"), version, title)
    head = head._replace(family=family)
    return [*([head] if family.whole else []), *(_variant(head, name, own) for name, own in variants.items())]


def read_head(file: Path, variant: str | None = None) -> Head | Problem:
    """Read the head of a file, or of one variant; return a problem if it is neither a task nor a suite."""
    values = _values(file)
    if isinstance(values, Problem):
        return values
    kind: Literal["task", "suite"] = "suite" if "suite" in values else "task"
    name = values.get(kind)
    if not isinstance(name, str) or not name:
        fix = "Name it here (an include cannot); a file that is only included has a name that starts with _."
        return Problem("the file is neither a task nor a suite: the key 'task' is missing", file, 1, 1, fix=fix)
    head = Head(kind, name, file, values, "include" not in values)
    if variant is None:
        return head
    variants = _members(values) if kind == "task" else {}
    if variant not in variants:
        near = nearest(variant, list(variants))
        known = f"It has: {', '.join(list(variants)[:20])}." if variants else "It has none."
        fix = f"Did you mean {near[0]!r}?" if near else known
        return Problem(f"the file has no variant {variant!r}", file, 1, 1, VARIANTS, fix)
    return _variant(head, variant, variants[variant])


def holds_variants(file: Path) -> bool:
    """Whether a file seems to declare variants, judged by its text."""
    text = _text(file)
    return not isinstance(text, Problem) and VARIANTS in text and re.search(_HAS_VARIANTS, text) is not None


def _variant(head: Head, key: str, values: Mapping[str, Any]) -> Head:
    return head._replace(name=f"{head.name}_{key}", values={**head.values, **values}, variant=key)


def _members(values: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the variants by name; a faulty one is empty (loading reports the fault)."""
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
        if is_pipe(file):
            return Problem("this is not a plain file", file, fix="Name a file.")
        with file.open("rb") as stream:
            return stream.read(_MAX_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return Problem("there is no such file", file, fix="Check the path.")
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
    from creval.tasks.yaml.yaml_reader import read_yaml

    document = read_yaml(file)
    if document.root is None or not document.root.is_mapping:
        return document.problems[0] if document.problems else Problem("the file does not contain a mapping", file, 1, 1)
    return {key: plain(node) for key, node in document.root.value.items() if key in WANTED}


def read_header(head: Head, plugin: str, library: Library, known: _Known) -> TaskHeader:
    """Complete the head of a file from its includes. `known` caches the values of included files."""
    values = head.values if head.whole else _with_included(head.values, head.file, library, known)
    measures = values.get("measures")
    return TaskHeader(
        name=head.name,
        plugin=plugin,
        version=_cell_text(values.get("version")),
        title=_cell_text(values.get("title")),
        measures=tuple(str(one) for one in measures) if isinstance(measures, list) else (),
        file=head.file,
        kind=head.kind,
        family=head.family,
        variant=head.variant,
        library=library,
    )


def _cell_text(value: Any) -> str:
    return "" if value is None else str(value)


def _with_included(
    values: Mapping[str, Any], file: Path, library: Library, known: _Known, depth: int = 0
) -> Mapping[str, Any]:
    """Add the values of the included files. Scalars and lists are replaced as a whole, as in the merge rule."""
    include = values.get("include")
    names = [include] if isinstance(include, str) else include if isinstance(include, list) else []
    merged: dict[str, Any] = {}
    for name in names if depth < _MAX_DEPTH else ():
        try:
            target = parse_path(name) if is_path(name) else library.find_file(name)
        except (UsageError, TypeError):
            continue  # a list shows what it can read; loading reports the fault
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
