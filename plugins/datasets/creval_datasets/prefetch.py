"""Fetches what runs of some tasks need from the network, so that they can be made without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from creval.plugin import CrevalError, ResourceOptions
from creval.plugin.data import DataOptions
from creval.plugin.loading import Plugins
from creval.plugin.prefetch import REMOTE_KEY, Task, TaskIndex, open_dataset, open_resource
from creval_datasets.huggingface import pinned_by

__all__ = ["Fetched", "prefetch"]

State = Literal["fetched", "here already", "local", "failed"]


class Fetched(NamedTuple):
    """What became of one thing that a task needs: its data, or a resource. `about` says more, or why it failed.

    `pin` is the commit of data whose task takes the newest one.
    """

    task: str
    what: str
    state: State
    about: str
    pin: str | None = None


def prefetch(tasks: Sequence[str], plugins: Plugins, resources: ResourceOptions | None = None) -> Iterator[Fetched]:
    """Fetch data and resources of tasks and suites, one after the other; each resource once.

    What fails stops none of the rest. Raises UnknownNameError and TaskError if a task cannot be loaded. Models are
    not fetched: a run names them, not a task.
    """
    options = resources or ResourceOptions()
    seen: dict[tuple[str, str], Fetched] = {}
    for task in TaskIndex(plugins).expand(list(tasks)):
        yield _data(task, plugins)
        for name, spec in task.resources.items():
            if spec.partition("/")[0] == "role":
                continue
            if (name, spec) not in seen:
                seen[name, spec] = _resource(task, (name, spec), plugins, options)
                yield seen[name, spec]


def _data(task: Task, plugins: Plugins) -> Fetched:
    remote = bool(plugins.registry.get("source", task.dataset.source).parameters.get(REMOTE_KEY))
    options = DataOptions.from_environment()
    for offline in (True, False):
        try:
            with open_dataset(task.dataset, plugins.registry, replace(options, offline=offline)) as dataset:
                state: State = "local" if not remote else "here already" if offline else "fetched"
                about = f"{len(dataset):,} docs from {dataset.origin}"
                pin = pinned_by(task.dataset.parameters, dataset.origin, options)
                return Fetched(task.qualified, "data", state, about, pin)
        except CrevalError as error:
            if not offline or not remote:
                return Fetched(task.qualified, "data", "failed", str(error))
    raise AssertionError("unreachable")


def _resource(task: Task, named: tuple[str, str], plugins: Plugins, options: ResourceOptions) -> Fetched:
    name, spec = named
    for offline in (True, False):
        try:
            opened = open_resource(name, spec, plugins.registry, replace(options, offline=offline))
            full = getattr(opened, "name", spec)  # loads the weights behind the name
            close = getattr(opened, "close", None)
            if callable(close):
                close()
            return Fetched(task.qualified, name, "here already" if offline else "fetched", str(full))
        except CrevalError as error:
            if not offline:
                return Fetched(task.qualified, name, "failed", str(error))
    raise AssertionError("unreachable")
