"""Expands suites into tasks: nested suites, overrides, overlap, and distinct names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from creval.errors import Problem, TaskError, UsageError
from creval.plugins.registry import Registry
from creval.tasks.load_task import Lookup, load_task
from creval.tasks.overrides import Overrides
from creval.tasks.suite_numbers import missing_metrics, missing_tasks, read_numbers
from creval.tasks.task_model import SuiteMetric, Task
from creval.tasks.task_paths import TaskFile, is_path, parse_path, strays
from creval.tasks.yaml.headers import Head
from creval.tasks.yaml.includes import read_merged
from creval.tasks.yaml.nodes import KeyPath, Node, problem_at
from creval.tasks.yaml.schema import named_validator, problems_of

__all__ = ["Index", "check_suite", "expand"]

_KINDS = ("task", "suite")


class _Entry(Protocol):
    @property
    def plugin(self) -> str: ...

    @property
    def head(self) -> Head: ...


class Index(Lookup, Protocol):
    """The part of the index that expanding uses."""

    def entry(self, named: str | Path | TaskFile) -> Any: ...


class _Planned(NamedTuple):
    """A task to load: its file, the overrides from the innermost suite outwards, its label, and the suites' numbers
    that include it, each with its place.
    """

    place: TaskFile
    overrides: tuple[Overrides, ...] = ()
    label: str | None = None
    suites: tuple[tuple[SuiteMetric, Node], ...] = ()


def expand(entries: Sequence[_Entry], index: Index, registry: Registry) -> list[Task]:
    """See `TaskIndex.expand`."""
    expansion = _Expansion(index, registry)
    planned = [plan for entry in entries for plan in expansion.plan(entry.head, (), ())]
    versions = expansion.load(planned)
    if expansion.problems:
        raise TaskError(list(dict.fromkeys(expansion.problems)))
    return _with_distinct_names(versions)


def check_suite(head: Head, index: Index, registry: Registry) -> Sequence[Problem]:
    """Return every problem of a suite, including those of overrides applied to its tasks."""
    expansion = _Expansion(index, registry)
    expansion.load(list(expansion.plan(head, (), ())))
    return list(dict.fromkeys(expansion.problems))


class _Version(NamedTuple):
    """A loaded task in the version that one entry of a suite requires."""

    task: Task
    label: str | None
    overridden: bool
    suites: dict[SuiteMetric, None]


class _Expansion:
    def __init__(self, index: Index, registry: Registry) -> None:
        self.problems: list[Problem] = []
        self._index = index
        self._registry = registry
        self._groups: list[Overrides] = []

    def plan(self, head: Head, outer: tuple[Overrides, ...], chain: tuple[Path, ...]) -> Iterator[_Planned]:
        """Yield the tasks of a task file or suite file."""
        if head.kind == "task":
            yield _Planned(head.place, outer)
            return
        document = read_merged(head.place, self._index)
        self.problems.extend(document.problems)
        root = document.root
        if root is None:
            return
        shape = problems_of(root, named_validator("suite"))
        self.problems.extend(shape)
        tasks = root.get("tasks")
        if tasks is None or not tasks.is_list:
            return
        common = root.get("overrides")
        if common is not None and common.is_mapping:
            outer = (self._group(Overrides(common, ("overrides",), group=True)), *outer)
        own = () if shape else tuple(read_numbers(root, self._index.owner(head.file).plugin, self.problems))
        for position, node in enumerate(tasks.value):
            for plan in self._plan_entry(node, ("tasks", position), outer, (*chain, head.file.resolve())):
                yield plan._replace(suites=(*own, *plan.suites))

    def _group(self, overrides: Overrides) -> Overrides:
        self._groups.append(overrides)
        return overrides

    def _plan_entry(
        self, node: Node, path: KeyPath, outer: tuple[Overrides, ...], chain: tuple[Path, ...]
    ) -> Iterator[_Planned]:
        named = self._kind_and_name(node, path)
        if named is None:
            return
        kind, name = named
        head = self._head(name, kind, path)
        if head is None:
            return
        if head.kind == "suite" and head.file.resolve() in chain:
            circle = " -> ".join(
                str(part) for part in (*chain[chain.index(head.file.resolve()) :], head.file.resolve())
            )
            self.problems.append(problem_at(name.place, f"the suites form a circle: {circle}", path, "Break it."))
            return
        label = node.get("as")
        overrides = Overrides(node, path, group=head.kind == "suite")
        inner = outer
        if node.is_mapping and not overrides.is_empty:
            inner = (self._group(overrides) if overrides.group else overrides, *outer)
        for plan in self.plan(head, inner, chain):
            yield plan._replace(label=str(label.value)) if label is not None and plan.label is None else plan

    def _kind_and_name(self, node: Node, path: KeyPath) -> tuple[str | None, Node] | None:
        """Return the kind (None: either) and the name that an entry gives."""
        if isinstance(node.value, str):
            return None, node
        candidates = [(kind, member) for kind in _KINDS if (member := node.get(kind)) is not None]
        if len(candidates) != 1 or not isinstance(candidates[0][1].value, str):
            if node.is_mapping:
                self.problems.append(problem_at(node.place, "an entry has exactly one of task and suite", path))
            return None
        return candidates[0]

    def _head(self, name: Node, kind: str | None, path: KeyPath) -> Head | None:
        text = str(name.value)
        target: str | TaskFile = text
        if is_path(text):
            written = parse_path(text)
            target = TaskFile(name.place.file.parent / written.file, written.variant)
            home = name.place.file
            if strays(target.file, self._index.bounds(home)):
                what = f"{text!r} is outside the folder of {home.name}; a suite reads only files in it"
                self.problems.append(problem_at(name.place, what, path, "Put the file into that folder."))
                return None
        try:
            head: Head = self._index.entry(target).head
        except TaskError as error:
            self.problems.extend(p._replace(message=f"{text}: {p.message}") for p in error.problems)
            return None
        except UsageError as error:
            self.problems.append(problem_at(name.place, error.what, path, error.fix))
            return None
        if kind is not None and head.kind != kind:
            self.problems.append(problem_at(name.place, f"{text!r} is a {head.kind}, not a {kind}", path))
            return None
        return head

    def load(self, planned: Sequence[_Planned]) -> Sequence[_Version]:
        """Load what is planned; problems are collected."""
        versions: list[_Version] = []
        versions_by_key: dict[tuple[Path, str | None, str], _Version] = {}
        labelled_tasks: dict[SuiteMetric, tuple[Node, list[Task]]] = {}
        unread: set[SuiteMetric] = set()
        for plan in planned:
            try:
                task = load_task(plan.place, self._index, self._registry, plan.overrides)
            except TaskError as error:
                self.problems.extend(error.problems)
                unread.update(number for number, _ in plan.suites)
                continue
            key = (plan.place.file.resolve(), plan.label, task.hash)
            if key not in versions_by_key:
                versions_by_key[key] = _Version(task, plan.label, bool(plan.overrides), {})
                versions.append(versions_by_key[key])
            versions_by_key[key].suites.update(dict.fromkeys(number for number, _ in plan.suites))
            labelled = task if plan.label is None else replace(task, name=f"{task.short_name}@{plan.label}")
            self.problems.extend(missing_metrics(labelled, plan.suites))
            for number, node in plan.suites:
                labelled_tasks.setdefault(number, (node, []))[1].append(labelled)
        for group in self._groups:
            self.problems.extend(group.unmatched())
        for number, (node, tasks) in labelled_tasks.items():
            if number not in unread:
                self.problems.extend(missing_tasks(number, node, tasks))
        return versions


def _with_distinct_names(versions: Sequence[_Version]) -> list[Task]:
    plugins: dict[str, set[str]] = {}
    hashes: dict[tuple[str, str], set[str]] = {}
    for version in versions:
        task = version.task
        plugins.setdefault(task.short_name, set()).add(task.plugin)
        if version.label is None:
            hashes.setdefault((task.plugin, task.short_name), set()).add(task.hash)
    tasks_by_name: dict[str, Task] = {}
    for version in versions:
        task = version.task
        name = f"{task.plugin}.{task.short_name}" if len(plugins[task.short_name]) > 1 else task.short_name
        if version.label is not None:
            name = f"{name}@{version.label}"
        elif version.overridden and len(hashes[task.plugin, task.short_name]) > 1:
            name = f"{name}@{task.hash[:8]}"
        if name in tasks_by_name:
            _refuse(tasks_by_name[name], task, name)
        tasks_by_name[name] = replace(task, name=name, suites=tuple(version.suites))
    return list(tasks_by_name.values())


def _refuse(first: Task, second: Task, name: str) -> None:
    files: Mapping[str, None] = dict.fromkeys((str(first.file), str(second.file)))
    raise UsageError(
        f"two different tasks would be called {name!r}: {' and '.join(files)}",
        fix="Give the entries of the suite different labels (as: ...), or rename a task.",
    )
