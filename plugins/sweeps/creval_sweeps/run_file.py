"""Read a run file: tasks, one model or several, and the options, in one YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from creval.plugin import UsageError
from creval.plugin.sweeps import (
    CONSENTS,
    MADE_HERE,
    Claims,
    Node,
    Problem,
    RunOptions,
    TaskError,
    is_path,
    named_validator,
    parse_path,
    plain,
    problem_at,
    problems_of,
    read_yaml,
)

__all__ = ["ModelEntry", "RunFile", "read_run_file"]

_ELSEWHERE = ("schema", "tasks", "model", "models", "output", "max_models", MADE_HERE)


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model of a run file: its name as provider/name, its label, and its own options."""

    model: str
    label: str = ""
    own: Mapping[str, Any] | None = None

    def applied(self, options: RunOptions) -> RunOptions:
        """Return the options of the file, overridden by those of this model."""
        limits = ("max_cost", "max_calls")
        own = {name: value for name, value in (self.own or {}).items() if value is not None or name not in limits}
        if "generation" in own:
            own["generation"] = {**options.generation, **own["generation"]}
        return replace(options, **own)


@dataclass(frozen=True, slots=True)
class RunFile:
    """The contents of a run file. `several`: it lists `models`, so `output` contains a run folder for each.

    `max_models` of them run at once. `output` is None if the file names none. `claims` lists everything in the file
    that acts on this machine; None if everything is on the command line.
    """

    tasks: Sequence[str]
    models: Sequence[ModelEntry]
    options: RunOptions
    several: bool
    output: Path | None = None
    claims: Claims | None = None
    max_models: int = 1


def read_run_file(file: Path) -> RunFile:
    """Read a run file. Relative paths in it are relative to its folder.

    Nothing in it may act before `claims` are checked. Raises TaskError with every problem and its location, UsageError
    for incompatible values.
    """
    document = read_yaml(file)
    root = document.root
    if root is None or document.problems:
        raise TaskError(document.problems)
    problems = [*_consents(root), *problems_of(_without_consents(root), named_validator("run_file"))]
    if problems:
        raise TaskError(problems)
    data: dict[str, Any] = plain(root)
    if ("model" in data) == ("models" in data):
        what = "are both set" if "model" in data else "are both missing"
        raise TaskError([Problem(f"model and models {what}", file, 1, 1, fix="Write one of them.")])
    base = file.parent
    tasks = [data["tasks"]] if isinstance(data["tasks"], str) else data["tasks"]
    entries = [_entry(one) for one in data.get("models", [data.get("model")])]
    try:
        options = _options(data, base)
        for entry in entries:
            entry.applied(options)
    except UsageError as error:
        error.where = f"{file}: {str(error.where or '').removeprefix('--').replace('-', '_')}".rstrip(": ")
        raise
    output = _resolve(base, data["output"]) if "output" in data else None
    claims = Claims.of_file(data, file)
    at_once = data.get("max_models", 1)
    return RunFile([_task(base, name) for name in tasks], entries, options, "models" in data, output, claims, at_once)


def _consents(root: Node) -> list[Problem]:
    found = ((name, root.get(name)) for name in CONSENTS)
    return [
        problem_at(
            node.key or node.place,
            f"{name} is never taken from a file, which may come from anyone",
            (name,),
            f"Leave it out here, and add --{name.replace('_', '-')} to the command.",
        )
        for name, node in found
        if node is not None
    ]


def _without_consents(root: Node) -> Node:
    if not root.is_mapping:
        return root
    return Node({key: node for key, node in root.value.items() if key not in CONSENTS}, root.place, root.key)


def _entry(given: str | Mapping[str, Any]) -> ModelEntry:
    if isinstance(given, str):
        return ModelEntry(given)
    own = {key: value for key, value in given.items() if key not in ("model", "as")}
    return ModelEntry(given["model"], given.get("as", ""), own)


def _options(data: Mapping[str, Any], base: Path) -> RunOptions:
    values = {key: value for key, value in data.items() if key not in _ELSEWHERE}
    values["data"] = {task: _resolve(base, path) for task, path in values.get("data", {}).items()}
    values["reuse"] = tuple(_resolve(base, path) for path in values.get("reuse", ()))
    values["docs"] = tuple(str(doc) for doc in values.get("docs", ()))
    return RunOptions(**values)


def _resolve(base: Path, text: str) -> Path:
    return base / Path(text).expanduser()


def _task(base: Path, name: str) -> str:
    """Return a task in the form for `--tasks`; a path relative to the command's working folder."""
    if not is_path(name):
        return name
    place = parse_path(name)
    return str(place._replace(file=(base / place.file).absolute()))
