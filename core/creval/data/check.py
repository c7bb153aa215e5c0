"""Checks a task against its data: what the YAML alone cannot tell (`creval validate`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from creval.data.dataset import Dataset
from creval.data.mirror import REMOTE_KEY
from creval.data.opening import open_dataset
from creval.data.options import DataOptions
from creval.errors import CrevalError, DataError, MissingPartError, PluginError, Problem, TaskError, UsageError
from creval.plugins.loader import Plugins
from creval.plugins.registry import Registry
from creval.tasks.check import check, places_of
from creval.tasks.components import whole
from creval.tasks.files import TaskFile
from creval.tasks.index import TaskIndex
from creval.tasks.model import ComponentRef, Task
from creval.tasks.templates.rendering import undefined_fields
from creval.types.kinds import Kind

__all__ = ["check_all", "check_components", "check_data", "check_fields"]

_ORIGIN = re.compile(r"(.*):(\d+)")


def check_all(targets: Sequence[str | Path], plugins: Plugins, options: DataOptions) -> list[Problem]:
    """Check files, folders and tasks by name: the YAML first, then the data of what is sound.

    Remote data that are not here are no problem of the task: with `options.offline` they are passed over.
    """
    problems = list(check(targets, plugins))
    faulty = {problem.file for problem in problems}
    index = TaskIndex(plugins)
    places = [place for target in targets for place in _places(target, index) if place.file not in faulty]
    for task in {task.hash: task for task in _tasks(places, index)}.values():
        problems.extend(check_components(task, plugins.registry))
        remote = plugins.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY)
        if not (options.offline and remote):
            problems.extend(check_data(task, plugins.registry, options))
    return list(dict.fromkeys(problems))


def _places(target: str | Path, index: TaskIndex) -> Sequence[TaskFile]:
    try:
        return places_of(target, index)
    except (UsageError, TaskError):
        return ()  # `check` has reported it


def _tasks(places: Sequence[TaskFile], index: TaskIndex) -> Iterator[Task]:
    for place in places:
        try:
            yield from index.expand([place])
        except CrevalError:
            continue  # `check` has reported it


def check_components(task: Task, registry: Registry) -> Sequence[Problem]:
    """Make every parser and scorer of a task once and return what its parameters make impossible (a faulty pattern).

    No resource is opened. A part whose package is not installed is no fault of the task: a run says so.
    """
    sections: tuple[tuple[str, Kind, Sequence[ComponentRef]], ...] = (
        ("parse", "parser", task.parse),
        ("score", "scorer", task.score),
    )
    problems = []
    for section, kind, refs in sections:
        for index, ref in enumerate(refs):
            try:
                registry.get(kind, ref.name).load()(**ref.parameters)
            except (MissingPartError, PluginError):
                continue
            except CrevalError as error:
                what, cure = error.what, error.cure
            except (Exception, SystemExit) as error:  # a plugin's own code
                what, cure = f"{type(error).__name__}: {error}", None
            else:
                continue
            listed = isinstance(task.resolved.get(section), list)
            path = f"{section}[{index}]" if listed else section
            problems.append(_at(task, path, f"the {kind} {ref.name!r} cannot be made: {what}", cure))
    return problems


def check_data(task: Task, registry: Registry, options: DataOptions) -> Sequence[Problem]:
    """Open a task's dataset and return what does not fit: unreadable data, undefined fields, tests of unknown docs."""
    try:
        dataset = open_dataset(task.dataset, registry, options)
    except CrevalError as error:
        where = f"{error.where}: " if error.where else ""
        return [_at(task, "dataset", f"{where}{error.what}", error.cure)]
    with dataset:
        return [*check_fields(task, dataset, registry), *_check_examples(task, dataset)]


def check_fields(task: Task, dataset: Dataset, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every template field that not every doc has and the protocol does not provide."""
    problems: list[Problem] = []
    protocol = registry.get("protocol", task.protocol.name)
    prompts = [
        ("prompt" if n == "prompt" else f"prompts.{n}", each, protocol.provides) for n, each in task.prompts.items()
    ]
    for role, own in task.role_prompts.items():
        given = _provided(task, role, registry)
        prompts += [(f"roles.{role}.prompts.{name}", each, given) for name, each in own.items()]
    for path, messages, provided in prompts:
        found = undefined_fields(messages, dataset.fields, task.file, provided, dataset.optional_fields)
        problems.extend(replace(problem, path=path) for problem in found)
    return problems


def _provided(task: Task, role: str, registry: Registry) -> tuple[str, ...]:
    """Return the names that those components add to a doc's fields which ask a role."""
    kinds: list[tuple[Kind, ComponentRef]] = [("protocol", task.protocol), *(("scorer", ref) for ref in task.score)]
    parts = [part for kind, ref in kinds for part in whole(registry.get(kind, ref.name), ref, registry)]
    return tuple(name for part in parts if role in part.roles for name in part.provides)


def _check_examples(task: Task, dataset: Dataset) -> Sequence[Problem]:
    problems = []
    for index, example in enumerate(task.examples):
        if not isinstance(example.doc, str):
            continue
        try:
            dataset.by_id(example.doc)
        except DataError as error:
            problems.append(_at(task, f"tests[{index}].doc", error.what, error.cure))
    return problems


def _at(task: Task, path: str, message: str, cure: str | None) -> Problem:
    """Place a problem at the YAML value that a key path names, or at the first below it."""
    origin = next(
        (place for key, place in task.origins.items() if key == path or key.startswith((f"{path}.", f"{path}["))), ""
    )
    match = _ORIGIN.fullmatch(origin)
    if match is None:
        return Problem(message, task.file, path=path, cure=cure)
    return Problem(message, Path(match[1]), int(match[2]), path=path, cure=cure)
