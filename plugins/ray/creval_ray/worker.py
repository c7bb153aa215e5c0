"""A worker: the parts of a run, opened by its spec in another process."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, SampleKey, ScoreRecord
from creval.plugin.executors import WorkItem
from creval.plugin.workers import (
    Common,
    Setup,
    TaskPlan,
    load_plugins,
    make_sample,
    open_plans,
    open_setup,
    read_sample,
    score_stream,
    store_sample,
    store_score,
    with_task_files,
)
from creval_ray.remote import Channel, RemoteBudget, RemoteLedger, RemoteLimiters, remote_roles
from creval_ray.wire import encode_error, encode_media
from creval_ray.worker_spec import WorkerSpec, check_tasks, check_versions, options_of, tasks_of

__all__ = ["Worker", "open_worker"]


def open_worker(
    spec: WorkerSpec, private: Mapping[str, Any], channel: Channel, tasks: Sequence[str] | None = None
) -> Worker:
    """Open a run's parts in this process, by `Coordinator.spec` and `Coordinator.private`.

    Everything is opened once and stays open: models, resources, data. `tasks` names this worker's tasks (None:
    all). Works in the folder in which the run was started, if this machine has it. Raises UsageError if creval, a
    plugin, a task or its data differ from the run's, and the errors of opening the parts.
    """
    with suppress(OSError):
        os.chdir(spec["folder"])
    where = f"worker on {platform.node()}"
    plugins = load_plugins()
    check_versions(spec, plugins, where)
    folder = tempfile.TemporaryDirectory(prefix="creval-worker-")
    try:
        options = options_of(spec, private, Path(folder.name))
        names, files = tasks_of(spec, Path(folder.name))
        plans = open_plans(names, options, plugins, new=False, people=spec["request"]["people"])
        plans = with_task_files(plans, files, options, plugins)
        check_tasks(spec, plans, where)
        mine = [plan for plan in plans if tasks is None or plan.task.name in tasks]
        common = Common(
            RemoteBudget(channel, options.max_cost, options.max_calls),
            RemoteLimiters(channel),
            RemoteLedger(channel, options.seed),
            remote_roles(spec["models"]),
        )
        setup = open_setup([plan.task for plan in mine], spec["request"]["roles"], options, plugins, common)
        setup.open_parts(target=spec["request"]["target"])
    except BaseException:
        folder.cleanup()
        raise
    return Worker(setup, mine, folder)


class Worker:
    """The parts of a run, open in this process. Use it from one event loop."""

    def __init__(
        self, setup: Setup, plans: Sequence[TaskPlan], folder: tempfile.TemporaryDirectory[str] | None = None
    ) -> None:
        self._setup = setup
        self._folder = folder
        self._plans = {plan.task.name: plan for plan in plans}
        self._conditions = {name: {c.name: c for c in plan.task.conditions} for name, plan in self._plans.items()}
        self._runtimes = {name: setup.runtime(plan.task) for name, plan in self._plans.items()}
        self._scorings = {
            name: replace(setup.scoring(plan.task), dataset=plan.dataset) for name, plan in self._plans.items()
        }

    async def make(self, key: Sequence[Any]) -> Mapping[str, Any]:
        """Make the sample of a key (task, doc, condition, repeat).

        Return its line with its media and the error that ended it, or the error that ends the run.
        """
        sample_key = SampleKey(*key)
        plan = self._plans[sample_key.task]
        doc = plan.dataset[plan.dataset.position(sample_key.doc)]
        condition = self._conditions[sample_key.task][sample_key.condition]
        try:
            made = await make_sample(
                self._runtimes[sample_key.task], WorkItem(sample_key, doc, condition, sample_key.repeat)
            )
            stored = store_sample(made.sample, plan.task.by_reference)
        except CrevalError as error:
            return {"raised": encode_error(error)}
        made_here = {"line": stored.line, "media": [*map(encode_media, stored.media)]}
        return {**made_here, "error": None if made.error is None else encode_error(made.error)}

    async def score(self, task: str, samples: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Score samples; return the lines of their scores, and the error that ended the scoring early."""
        scoring, lines = self._scorings[task], list[bytes]()

        def scored(scores: Sequence[ScoreRecord]) -> None:
            lines.extend(store_score(score).line for score in scores)

        batch = [read_sample(record) for record in samples]
        try:
            await score_stream(iter([batch]), scoring, self._setup.options.concurrency, scored)
        except CrevalError as error:
            return {"lines": lines, "raised": encode_error(error)}
        return {"lines": lines}

    def status(self) -> Mapping[str, Any]:
        """Return the open resources, and the models' statistics so far."""
        return {
            "resources": {name: self._setup.contexts[name].names() for name in self._plans},
            "models": {role: model.stats().to_json() for role, model in self._setup.models.opened().items()},
        }

    async def close(self) -> None:
        """Close models and resources."""
        try:
            await self._setup.close()
        finally:
            if self._folder is not None:
                self._folder.cleanup()
