"""Write a plugin's package, or a task file, from the templates next to this module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from creval.plugin import UnknownNameError, UsageError
from creval.plugin.loading import CORE, LOCAL, RESERVED, find_distributions
from creval_testing.registry_entries import read_entries

__all__ = ["KINDS", "LICENCES", "new_plugin", "new_task", "taken_name"]

_HERE = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
LICENCES = ("MIT", "BSD-3-Clause", "Apache-2.0")
KINDS = ("questions", "choices", "judged", "mode_collapse")
"""The templates for a new task without code: tasks that include no other file."""
_SCHEMA = "https://github.com/creval/creval/raw/main/schemas/task.schema.json"
_PLACES: Mapping[str, str] = {
    "pyproject.toml.txt": "pyproject.toml",
    "README.md.txt": "README.md",
    "CHANGELOG.md.txt": "CHANGELOG.md",
    "gitignore.txt": ".gitignore",
    "licences/@LICENCE@.txt": "LICENSE",
    "package/__init__.py.txt": "@PACKAGE@/__init__.py",
    "package/plugin.py.txt": "@PACKAGE@/plugin.py",
    "package/scorer.py.txt": "@PACKAGE@/scorer.py",
    "package/tasks/task.yaml.txt": "@PACKAGE@/tasks/@NAME@.yaml",
    "package/tasks/docs.jsonl.txt": "@PACKAGE@/tasks/@NAME@.jsonl",
    "test_conformance.py.txt": "tests/test_conformance.py",
    "test_scorer.py.txt": "tests/test_scorer.py",
    "workflows/test.yml.txt": ".github/workflows/test.yml",
}
"""The files of a template, and their destinations."""


def new_plugin(name: str, folder: Path, licence: str, author: str) -> Sequence[Path]:
    """Write the package `creval-NAME` into `folder/creval-NAME` and return its files.

    Raises UsageError, and writes nothing, if the name is invalid for a plugin or the folder exists.
    """
    _check(name)
    if licence not in LICENCES:
        raise UnknownNameError("licence", licence, LICENCES, where="--licence")
    distribution = f"creval-{name.replace('_', '-')}"
    target = folder / distribution
    if target.exists():
        raise UsageError("the folder is there already", where=str(target), fix="Take another name or folder.")
    values = {
        "NAME": name,
        "DISTRIBUTION": distribution,
        "PACKAGE": f"creval_{name}",
        "TITLE": name.replace("_", " ").capitalize(),
        "LICENCE": licence,
        "AUTHOR": author or f"the authors of {distribution}",
        "YEAR": str(date.today().year),
        **_core(),
    }
    return [_write(target / place, text) for place, text in _filled(values)]


def _filled(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for source, place in _PLACES.items():
        text = (_HERE / "plugin_template" / _fill(source, values)).read_text(encoding="utf-8")
        yield _fill(place, values), _fill(text, values)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)


def _core() -> Mapping[str, str]:
    """Return the version range of the core that a new plugin requires: this minor version."""
    import creval

    major, minor, *_ = creval.__version__.split(".")
    return {"CORE": f"{major}.{minor}", "NEXT": f"{major}.{int(minor) + 1}"}


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        fix = "Use lower-case letters, digits and _, a letter first."
        raise UsageError(f"{name!r} cannot be the name of a plugin", where="creval new plugin", fix=fix)
    if name in (CORE, LOCAL, *RESERVED):
        raise UsageError(f"{name!r} is a word of creval's own", where="creval new plugin", fix="Take another name.")


def taken_name(name: str) -> str | None:
    """Return the distribution, installed or in the registry, with the name of a plugin; None if the name is free."""
    installed = [each.name for each in find_distributions() for own, _ in each.plugins if own == name]
    published = [each.package for each in read_entries() if name in (each.plugin, each.package)]
    owners = list(dict.fromkeys([*installed, *published]))
    if not owners:
        return None
    taken = f"the plugin name {name!r} is taken by {' and '.join(owners)}"
    return f"{taken}: where both are installed, one is refused. Take another name."


def new_task(file: Path, kind: str) -> Sequence[Path]:
    """Write a task file from one of `KINDS`, and its data next to it; return both paths.

    Raises UsageError if the file's name is invalid for a task, or either file exists.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of task", kind, KINDS, where="--like")
    file = file if file.suffix in (".yaml", ".yml") else file.with_name(f"{file.name}.yaml")
    name = file.stem
    if not _NAME.fullmatch(name):
        fix = "Use lower-case letters, digits and _, a letter first."
        raise UsageError(f"{name!r} cannot be the name of a task", where=str(file), fix=fix)
    text = (_HERE / "example_tasks" / f"{kind}.yaml").read_text(encoding="utf-8")
    found = re.search(r"file: (\w+)\.jsonl", text)
    assert found is not None, "each kind has its data in a file"
    data = file.with_name(f"{name}.jsonl")
    for each in (file, data):
        if each.exists():
            raise UsageError("the file is there already", where=str(each), fix="Take another name.")
    text = re.sub(r"\$schema=\S+", f"$schema={_SCHEMA}", text, count=1)
    text = text.replace(f"task: {kind}\n", f"task: {name}\n").replace(found[0], f"file: {name}.jsonl")
    rows = (_HERE / "example_tasks" / f"{found[1]}.jsonl").read_text(encoding="utf-8")
    return [_write(file, text), _write(data, rows)]


def _write(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place
