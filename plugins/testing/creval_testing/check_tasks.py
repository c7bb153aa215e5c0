"""Check tasks and their data, and return every problem (`creval validate`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from creval.plugin import CrevalError, DataError, Registry, UsageError
from creval.plugin.authoring import (
    REMOTE_KEY,
    Dataset,
    Task,
    TaskError,
    TaskFile,
    TaskIndex,
    check_components,
    check_fields,
    open_dataset,
)
from creval.plugin.checking import Problem, doc_problems, parsers_of
from creval.plugin.data import DataOptions
from creval.plugin.loading import Plugins
from creval_testing.check_counts import check_repeats, check_turns, made
from creval_testing.check_files import check, places_of

__all__ = ["check_all", "check_data", "check_warnings"]


def check_all(targets: Sequence[str | Path], plugins: Plugins, options: DataOptions) -> list[Problem]:
    """Check files, folders and tasks by name: first the YAML, then the data of sound tasks.

    Remote data that are not in the cache are not a problem of the task: with `options.offline` they are skipped.
    """
    problems = list(check(targets, plugins))
    faulty = {problem.file for problem in problems}
    index = TaskIndex(plugins)
    places = [place for target in targets for place in _places(target, index) if place.file not in faulty]
    for task in {task.hash: task for task in _tasks(places, index)}.values():
        problems.extend(check_components(task, plugins.registry) or check_repeats(task, plugins.registry))
        remote = plugins.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY)
        if not (options.offline and remote):
            problems.extend(check_data(task, plugins.registry, options))
    return list(dict.fromkeys(problems))


def check_warnings(targets: Sequence[str | Path], plugins: Plugins) -> list[Problem]:
    """Return the warnings of the tasks' parsers (`warning`): likely future faults."""
    index = TaskIndex(plugins)
    found = []
    for task in {task.hash: task for task in _tasks([p for t in targets for p in _places(t, index)], index)}.values():
        for at, ref in parsers_of(task):
            warning = getattr(made(plugins.registry, "parser", ref), "warning", None)
            if warning:
                found.append(task.problem_at(at, str(warning), None))
    return found


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


def check_data(task: Task, registry: Registry, options: DataOptions) -> Sequence[Problem]:
    """Open a task's dataset and return its problems: unreadable data, undefined fields, tests of unknown docs."""
    try:
        dataset = open_dataset(task.dataset, registry, options)
    except CrevalError as error:
        where = f"{error.where}: " if error.where else ""
        return [task.problem_at(_own_part(task), f"{where}{error.what}", error.fix)]
    with dataset:
        found = check_fields(task, dataset, registry)
        unfit = () if found else doc_problems(task, dataset, registry, dataset, baselines=True)
        turns = () if found else check_turns(task, dataset, registry)
        return [*found, *unfit, *turns, *_check_examples(task, dataset)]


def _own_part(task: Task) -> str:
    """Return the first key of the dataset in the task's own file, if the rest is included from another file."""
    places = {key: place for key, place in task.origins.items() if key.startswith("dataset.")}
    own = [key for key, place in places.items() if place.startswith(f"{task.file}:")]
    return own[0] if own and len(own) < len(places) else "dataset"


def _check_examples(task: Task, dataset: Dataset) -> Sequence[Problem]:
    problems = []
    for index, example in enumerate(task.examples):
        if not isinstance(example.doc, str):
            continue
        try:
            dataset.by_id(example.doc)
        except DataError as error:
            problems.append(task.problem_at(f"tests[{index}].doc", error.what, error.fix))
    return problems
