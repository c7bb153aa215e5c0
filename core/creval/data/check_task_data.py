"""Checks a task against its data: what the YAML alone cannot tell (`creval validate`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from creval.data.data_options import DataOptions
from creval.data.dataset import Dataset
from creval.data.doc_fit import doc_problems, prompts_of
from creval.data.mirror import REMOTE_KEY
from creval.data.open_dataset import open_dataset
from creval.errors import CrevalError, DataError, MissingPartError, PluginError, Problem, TaskError, UsageError
from creval.plugins.loader import Plugins
from creval.plugins.registry import Registry
from creval.plugins.traits import ParserTraits
from creval.tasks.check_files import check, places_of
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import ComponentRef, ScorerRef, Task
from creval.tasks.task_paths import TaskFile
from creval.tasks.templates.rendering import undefined_fields
from creval.types.kinds import Kind

__all__ = ["check_all", "check_components", "check_data", "check_fields", "check_warnings"]


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


def check_warnings(targets: Sequence[str | Path], plugins: Plugins) -> list[Problem]:
    """Return what is no fault but likely to become one: what a parser of a task says by its `warning`."""
    index = TaskIndex(plugins)
    found = []
    for task in {task.hash: task for task in _tasks([p for t in targets for p in _places(t, index)], index)}.values():
        for at, ref in _parsers(task):
            try:
                warning = getattr(plugins.registry.get("parser", ref.name).load()(**ref.parameters), "warning", None)
            except Exception:  # `check_all` reports it
                continue
            if warning:
                found.append(task.problem_at(at, str(warning), None))
    return found


def _parsers(task: Task) -> Iterator[tuple[str, ComponentRef]]:
    """Yield the parsers of all readings of a task, each with its key path."""
    for name, chain in task.chains.items():
        section = f"readings.{name}" if name else "parse"
        written = task.resolved["readings"][name] if name else task.resolved.get("parse")
        yield from ((f"{section}[{i}]" if isinstance(written, list) else section, ref) for i, ref in enumerate(chain))


def _scorers(task: Task) -> Iterator[tuple[str, ComponentRef]]:
    """Yield the scorers of a task, each with its key path."""
    listed = isinstance(task.resolved.get("score"), list)
    for index, ref in enumerate(task.score):
        place = ref.position if isinstance(ref, ScorerRef) else index
        yield (f"score[{place}]" if listed else "score"), ref


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
    sections: tuple[tuple[Kind, Iterator[tuple[str, ComponentRef]]], ...] = (
        ("parser", _parsers(task)),
        ("scorer", _scorers(task)),
    )
    problems = []
    for kind, refs in sections:
        for path, ref in refs:
            try:
                component = registry.get(kind, ref.name)
                if kind == "scorer":
                    component.make_scorer(ref.parameters)
                else:
                    component.load()(**ref.parameters)
            except (MissingPartError, PluginError):
                continue
            except CrevalError as error:
                what, fix = error.what, error.fix
            except (Exception, SystemExit) as error:  # a plugin's own code
                what, fix = f"{type(error).__name__}: {error}", None
            else:
                continue
            problems.append(task.problem_at(path, f"the {kind} {ref.name!r} cannot be made: {what}", fix))
    return list(dict.fromkeys(problems)) or _check_kinds(task, registry)


def _check_kinds(task: Task, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every scorer that cannot take what its reading's parsers give (both only where they say)."""
    found = {name: [registry.find("parser", ref.name) for ref in chain] for name, chain in task.chains.items()}
    kinds = {
        name: _given(
            [part.parser_traits(ref.parameters) for part, ref in zip(parts, task.chains[name], strict=True) if part]
        )
        for name, parts in found.items()
    }
    problems = []
    for path, ref in _scorers(task):
        scorer = registry.find("scorer", ref.name)
        if scorer is None:
            continue
        name, given = ref.name, kinds[ref.reading if isinstance(ref, ScorerRef) else ""]
        takes = scorer.scorer_traits(ref.parameters).takes
        wrong = sorted(kind for kind in given if kind and kind not in takes)
        if takes and len(wrong) == len(given):  # where one way of reading fits, the others are answers of another form
            parse = f"the reading {ref.reading!r}" if isinstance(ref, ScorerRef) and ref.reading else "`parse`"
            what = f"the scorer {name!r} takes a {' or a '.join(sorted(takes))}, but {parse} gives a {wrong[0]}"
            problems.append(task.problem_at(path, what, "Take another parser or scorer."))
    return problems


def _given(parsers: Sequence[ParserTraits]) -> set[str]:
    """Return the kinds of value that a chain of parsers may give (empty: any): those of the last parser of each way."""
    starts = [place for place, parser in enumerate(parsers) if not parser.refines]
    refining = [place for place in range(len(parsers)) if place not in starts]
    last = [max([place, *(each for each in refining if each > place)]) for place in starts] or refining[-1:]
    return {parsers[place].gives for place in last} if parsers else {"text"}


def check_data(task: Task, registry: Registry, options: DataOptions) -> Sequence[Problem]:
    """Open a task's dataset and return what does not fit: unreadable data, undefined fields, tests of unknown docs."""
    try:
        dataset = open_dataset(task.dataset, registry, options)
    except CrevalError as error:
        where = f"{error.where}: " if error.where else ""
        return [task.problem_at(_own_part(task), f"{where}{error.what}", error.fix)]
    with dataset:
        found = check_fields(task, dataset, registry)
        unfit = () if found else doc_problems(task, dataset, registry, dataset)
        return [*found, *unfit, *_check_examples(task, dataset)]


def _own_part(task: Task) -> str:
    """Return the first key of the dataset that the task's own file states, where it includes the rest from another."""
    places = {key: place for key, place in task.origins.items() if key.startswith("dataset.")}
    own = [key for key, place in places.items() if place.startswith(f"{task.file}:")]
    return own[0] if own and len(own) < len(places) else "dataset"


def check_fields(task: Task, dataset: Dataset, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every template field that not every doc has and the protocol does not provide."""
    problems: list[Problem] = []
    for path, messages, provided in prompts_of(task, registry):
        found = undefined_fields(messages, dataset.fields, task.file, provided, dataset.optional_fields)
        problems.extend(replace(problem, path=path, message=problem.message + dataset.left_out) for problem in found)
    return problems


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
