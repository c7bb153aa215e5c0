"""A worker's end of a run: its parts, opened by the run's brief in another process."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.engine.execution.brief import check_tasks, check_versions, options_of, tasks_of
from creval.engine.execution.distant import DistantBudget, DistantLedger, DistantLimiters, distant_roles
from creval.engine.execution.faults import crossing_error
from creval.engine.generation.sampling import make_sample
from creval.engine.generation.storing import store_sample
from creval.engine.planning.plan import TaskPlan
from creval.engine.rescoring import with_task_files
from creval.engine.scoring.scoring_step import score_stream, store
from creval.engine.setup import Common, Setup, open_plans, open_setup
from creval.errors import CrevalError
from creval.plugins.loader import load_plugins
from creval.runs.jsonl import dump_line
from creval.runs.record_data import read_sample
from creval.types.execution import Link, Work
from creval.types.sample import SampleKey, ScoreRecord

__all__ = ["RunWorkshop", "open_workshop"]


def open_workshop(
    brief: Mapping[str, Any], private: Mapping[str, Any], link: Link, tasks: Sequence[str] | None = None
) -> RunWorkshop:
    """Open a run's parts in this process, by `Foreman.brief` and `Foreman.private`, and return the `Workshop`.

    Everything is opened once and kept: models, instruments, data. `tasks` names those that this worker works on (None:
    all). Works in the folder that the run was started in, where this machine has it. Raises UsageError where creval, a
    plugin, a task or its data are others than the run's, and whatever opening the parts raises.
    """
    with suppress(OSError):
        os.chdir(brief["folder"])
    where = f"worker on {platform.node()}"
    plugins = load_plugins()
    check_versions(brief, plugins, where)
    folder = tempfile.TemporaryDirectory(prefix="creval-worker-")
    try:
        options = options_of(brief, private, Path(folder.name))
        names, files = tasks_of(brief, Path(folder.name))
        plans = open_plans(names, options, plugins, new=False, people=brief["people"])
        plans = with_task_files(plans, files, options, plugins)
        check_tasks(brief, plans, where)
        mine = [plan for plan in plans if tasks is None or plan.task.name in tasks]
        common = Common(
            DistantBudget(link, options.max_cost, options.max_calls),
            DistantLimiters(link),
            DistantLedger(link, options.seed),
            distant_roles(brief["models"]),
        )
        setup = open_setup([plan.task for plan in mine], brief["roles"], options, plugins, common)
        setup.open_parts(target=brief["target"])
    except BaseException:
        folder.cleanup()
        raise
    return RunWorkshop(setup, mine, folder)


class RunWorkshop:
    """The `Workshop` of one worker."""

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
        """Make the sample of a key, and tell its line and the error that ended it; or what ends the run."""
        sample_key = SampleKey(*key)
        plan = self._plans[sample_key.task]
        doc = plan.dataset[plan.dataset.position(sample_key.doc)]
        condition = self._conditions[sample_key.task][sample_key.condition]
        try:
            made = await make_sample(
                self._runtimes[sample_key.task], Work(sample_key, doc, condition, sample_key.repeat)
            )
            line = store_sample(made.sample, plan.task.by_reference).line
        except CrevalError as error:
            return {"raised": crossing_error(error)}
        return {"line": line, "error": None if made.error is None else crossing_error(made.error)}

    async def score(self, task: str, samples: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Score samples, and tell the lines of their scores; with them what ended the scoring before its end."""
        scoring, lines = self._scorings[task], list[bytes]()

        def scored(scores: Sequence[ScoreRecord]) -> None:
            for score in scores:
                store(lambda record: lines.append(dump_line(record)), score)

        batch = [read_sample(record) for record in samples]
        try:
            await score_stream(iter([batch]), scoring, self._setup.options.concurrency, scored)
        except CrevalError as error:
            return {"lines": lines, "raised": crossing_error(error)}
        return {"lines": lines}

    def told(self) -> Mapping[str, Any]:
        """Tell which instruments are open here, and what the models have done so far."""
        return {
            "instruments": {name: self._setup.contexts[name].names() for name in self._plans},
            "models": {role: model.stats().to_json() for role, model in self._setup.models.opened().items()},
        }

    async def close(self) -> None:
        """Close models and resources."""
        try:
            await self._setup.close()
        finally:
            if self._folder is not None:
                self._folder.cleanup()
