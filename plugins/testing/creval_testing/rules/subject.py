"""The examined plugin: its components, its tasks, and the resources that they may use."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, DataError, UnknownNameError
from creval.plugin.authoring import (
    REMOTE_KEY,
    Dataset,
    RunOptions,
    Task,
    TaskFile,
    TaskHeader,
    TaskIndex,
    open_dataset,
    run,
)
from creval.plugin.data import DataOptions
from creval.plugin.loading import PluginInfo, Plugins, load_plugins

__all__ = ["Installed", "NotExaminedError", "Subject", "play"]

SEED = 7


class NotExaminedError(CrevalError):
    """A rule cannot be examined here: the data are remote, or a role has no model."""


class Installed:
    """Every installed plugin, loaded on first use; subjects may share it."""

    @functools.cached_property
    def plugins(self) -> Plugins:
        return load_plugins()

    @functools.cached_property
    def index(self) -> TaskIndex:
        return TaskIndex(self.plugins)


@dataclass(frozen=True)
class Subject:
    """One installed plugin. `resources` replace those of the tasks, `roles` are models for roles.

    `docs` is the number of docs that a rule plays per task. Tasks may use resources of other plugins.
    """

    name: str
    resources: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    docs: int = 2
    installed: Installed = field(default_factory=Installed)

    @property
    def plugins(self) -> Plugins:
        return self.installed.plugins

    @property
    def index(self) -> TaskIndex:
        return self.installed.index

    @property
    def info(self) -> PluginInfo:
        """The information from loading. Raises UnknownNameError, and PluginError if the plugin failed to load."""
        found = self.plugins.info(self.name)
        if found is None:
            known = [info.name for info in self.plugins.infos]
            broken = next((str(each) for each in self.plugins.failures if each.name == self.name), None)
            raise UnknownNameError("plugin", self.name, known, hint=broken)
        return found

    @property
    def package(self) -> Path:
        """The folder of the plugin's Python package."""
        folder = self.info.folder
        assert folder is not None, "an installed plugin has a folder"
        return folder

    @functools.cached_property
    def headers(self) -> Sequence[TaskHeader]:
        """The headers of the plugin's tasks, by name."""
        return [each for each in self.index.headers() if each.plugin == self.name and each.kind == "task"]

    @functools.cached_property
    def files(self) -> Sequence[Path]:
        """The plugin's task and suite files."""
        own = (each.file for each in self.index.headers() if each.plugin == self.name)
        faulty = (each.file for each in self.index.problems() if each.file is not None)
        return list(dict.fromkeys([*own, *(file for file in faulty if self._owns(file))]))

    def _owns(self, file: Path) -> bool:
        return any(file.is_relative_to(folder) for name, folder in self.plugins.task_folders if name == self.name)

    @property
    def tasks(self) -> Sequence[str]:
        """The names of all its tasks."""
        return [header.name for header in self.headers]

    @property
    def leading(self) -> Sequence[str]:
        """The first task of each file. The shared parts of its variants need not be played for each of them."""
        first: dict[Path, str] = {}
        for header in self.headers:
            if header.variant is None or header.file not in first:
                first[header.file] = header.name if header.variant is None else first.get(header.file, header.name)
        return list(first.values())

    def load(self, task: str) -> Task:
        """Load one of the plugin's tasks. Raises TaskError with every problem."""
        if task not in self._loaded:
            header = next(each for each in self.headers if each.name == task)
            self._loaded[task] = self.index.load(TaskFile(header.file, header.variant))
        return self._loaded[task]

    @functools.cached_property
    def _loaded(self) -> dict[str, Task]:
        return {}

    def options(self, task: Task) -> RunOptions:
        """Return the options for running a task: offline, and with replaced resources."""
        own = {name: spec for name, spec in self.resources.items() if name in task.resources}
        return RunOptions(resources=own, offline=True, allow_code_execution=True)

    def dataset(self, task: Task) -> Dataset:
        """Open a task's data, offline. They stay open until other data are opened, or until `close`.

        Raises NotExaminedError if they are remote and not in the cache.
        """
        data = repr(task.dataset)
        if data not in self._open:
            self.close()
            self._open[data] = self._opened(task)
        return self._open[data]

    def _opened(self, task: Task) -> Dataset:
        try:
            return open_dataset(task.dataset, self.plugins.registry, DataOptions.from_environment(offline=True))
        except DataError as error:
            if self.is_remote(task):
                raise NotExaminedError(
                    "its data are remote and not in the cache",
                    where=task.qualified,
                    fix=f"Fetch them once: creval prefetch {task.qualified}",
                ) from error
            raise

    @functools.cached_property
    def _open(self) -> dict[str, Dataset]:
        """Open data, of one task at most, since some are large."""
        return {}

    def close(self) -> None:
        """Close the data."""
        while self._open:
            self._open.popitem()[1].close()

    def played(self, task: Task, baseline: str) -> Mapping[str, Any]:
        """Return a baseline's result on the first docs, played once. Raises NotExaminedError if a role has none."""
        free = [role for role in task.roles if role not in self.roles]
        if free:
            what = f"no model for its role {free[0]} here: name one under `roles`"
            raise NotExaminedError(what, where=task.qualified)
        if (task.name, baseline) not in self._plays:
            self._plays[task.name, baseline] = play(self, task, baseline)
        return self._plays[task.name, baseline]

    @functools.cached_property
    def _plays(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        return {}

    def is_remote(self, task: Task) -> bool:
        """Return whether a task's data are remote."""
        return bool(self.plugins.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY))


def play(subject: Subject, task: Task, baseline: str) -> Mapping[str, Any]:
    """Run a baseline on a few docs and return metrics, questions, answers and scores. Raises what a run raises."""
    roles = {role: subject.roles[role] for role in task.roles}
    repeats = _fewest_repeats(subject, task)
    options = replace(subject.options(task), roles=roles, limit=subject.docs, repeats=repeats, seed=SEED)
    with tempfile.TemporaryDirectory(prefix="creval-") as folder:
        done = run([task.qualified], f"baseline/{baseline}", replace(options, output=Path(folder) / "run"))
        (result,) = done.results["tasks"]
        samples = _rows(done.folder / "samples")
        scores = _rows(done.folder / "scores")
    errored = [key for key, row in scores.items() if row["status"] == "errored"]
    if errored:
        raise CrevalError(f"{errored[0]} of the {baseline} ended as errored: {scores[errored[0]]['reason']}")
    return {
        "metrics": result["metrics"],
        "questions": {key: [call["messages"] for call in row["calls"]] for key, row in samples.items()},
        "answers": {key: row["answers"] for key, row in samples.items()},
        "scores": {key: row["scores"] for key, row in scores.items()},
    }


def _fewest_repeats(subject: Subject, task: Task) -> int:
    """Return the number of repeats that the metrics require, often fewer than those of the task."""
    needed, registry = [1], subject.plugins.registry
    for metric in task.metrics:
        made = registry.get("aggregation", metric.aggregate.name).load()(**metric.aggregate.parameters)
        needed.append(getattr(made, "minimum_repeats", 1))
    needed += [registry.get("scorer", ref.name).scorer_traits(ref.parameters).minimum_repeats for ref in task.score]
    return max(needed)


def _rows(folder: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().splitlines()]
    return dict(sorted((f"doc {row['doc_id']!r}, {row['condition']}, {row['repeat']}", row) for row in rows))
