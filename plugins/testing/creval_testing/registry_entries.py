"""Read the entries of the registry: YAML, read by the safe reader of task files and validated by its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from creval.plugin import UnknownNameError, UsageError
from creval.plugin.authoring import Node, TaskError, named_validator, plain, problems_of, read_yaml
from creval.plugin.checking import Problem

__all__ = ["SHIPPED", "RegistryEntry", "read_entries", "read_entry"]


SHIPPED = Path(__file__).parent / "entries"
"""The entries shipped with this version of creval-testing."""

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One published plugin; see schemas/registry.schema.json."""

    plugin: str
    package: str
    version: str
    repository: str
    commit: str
    licence: str
    title: str
    tasks: Mapping[str, Mapping[str, Any]]
    needs: Sequence[str] = ()
    resources: Mapping[str, str] = field(default_factory=dict)
    file: Path = field(default=Path(), compare=False)


def read_entry(file: Path) -> RegistryEntry:
    """Read one entry. Raises TaskError with every problem, by line."""
    document = read_yaml(file)
    if document.root is None or document.problems:
        raise TaskError(document.problems)
    problems = problems_of(document.root, named_validator("registry"))
    if problems:
        raise TaskError(problems)
    data = plain(document.root)
    problems = [*_names_of_packages(document.root, file)]
    if problems:
        raise TaskError(problems)
    if file.stem != data["plugin"]:
        message = f"the entry of the plugin {data['plugin']!r} is in a file of another name"
        raise TaskError([Problem(message, file, fix=f"Call it {data['plugin']}.yaml.")])
    return RegistryEntry(**{key: value for key, value in data.items() if key != "schema"}, file=file)


def _names_of_packages(root: Node, file: Path) -> Iterator[Problem]:
    """Yield a problem for each invalid package name: pip would read `-r/etc/passwd` as an option, a URL as a source."""
    from packaging.requirements import InvalidRequirement, Requirement

    data = plain(root)
    needs = root.get("needs")
    written = [(f"{data['package']}=={data['version']}", root.get("package"))]
    written += [(str(member.value), member) for member in (needs.value if needs is not None else ())]
    for text, node in written:
        try:
            named = Requirement(text).url is None
        except InvalidRequirement:
            named = False
        if not named:
            fix = "Write a name, and its version where that matters: numpy>=1.26."
            line = node.place.line if node is not None else None
            yield Problem(f"{text[:_SHOWN]!r} is not the name of a package", file, line, fix=fix)


def read_entries(names: Sequence[str] = (), folder: Path = SHIPPED) -> list[RegistryEntry]:
    """Read the entries of a folder, for the named plugins or for all, by name.

    Raises UsageError if it is not a folder, UnknownNameError for a name without an entry, TaskError for a faulty entry.
    """
    if not folder.is_dir():
        raise UsageError("there is no folder of entries", where=str(folder))
    files = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    for name in names:
        if name not in files:
            raise UnknownNameError("entry", name, list(files), where=str(folder))
    return [read_entry(files[name]) for name in (names or files)]
