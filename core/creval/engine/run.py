"""A whole run: new, resumed, or scored again. One event loop, one folder, three steps with files between."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.engine.aggregate import aggregate_task, metric_names, task_results
from creval.engine.folder import RunFolder
from creval.engine.generate import Job, generate
from creval.engine.jsonl import write_json
from creval.engine.lock import RunLock
from creval.engine.manifest import now, read_options, start_manifest, task_data
from creval.engine.models import TARGET
from creval.engine.observer import Observer, Quiet
from creval.engine.options import RunOptions
from creval.engine.plan import TaskPlan
from creval.engine.schemas import check_manifest, check_results
from creval.engine.scoring_step import score_again, score_missing
from creval.engine.setup import Setup, open_plans, open_setup
from creval.engine.tally import TaskTally, UsageTally
from creval.errors import BudgetError, RunError, UsageError
from creval.models.budget import Budget
from creval.plugins.loader import load_plugins
from creval.types.sample import SampleScore

__all__ = ["Finished", "rescore", "resume", "run_new"]

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that came to its end: folder, results.json as data, and the budget's message where it stopped early."""

    folder: Path
    results: Mapping[str, Any]
    budget: BudgetError | None = None


def run_new(tasks: Sequence[str], model: str, options: RunOptions, observer: Observer | None = None) -> Finished:
    """Start a run in a new folder. Raises UsageError, TaskError, DataError, RunError before the first call."""
    if not tasks:
        raise UsageError("no task is named", where="--tasks", cure="List them with: creval ls")
    if not model:
        raise UsageError("no model is named", where="--model", cure="For example: --model openrouter/openai/gpt-5-mini")
    watcher = observer or Quiet()
    watcher.on_phase("open", None, 0, 0)
    plugins = load_plugins()
    plans = open_plans([str(task) for task in tasks], options, plugins)
    roles = {TARGET: model, **options.roles}
    setup = open_setup([plan.task for plan in plans], roles, options, plugins)
    setup.open_parts()
    if options.output:
        folder = RunFolder.create(options.output)
    else:
        folder = RunFolder.create_default(RUNS, model, [plan.task.name for plan in plans], now().replace(":", ""))
    with RunLock(folder.path):
        manifest = start_manifest([str(task) for task in tasks], roles, options, plugins, plans)
        return _Run(folder, manifest, setup, plans, watcher).whole()


def resume(
    path: Path, observer: Observer | None = None, max_cost: float | None = None, max_calls: int | None = None
) -> Finished:
    """Go on with a run: make what is missing, try errored samples again, score, aggregate.

    `max_cost` and `max_calls` replace the run's own limits; what it has spent already counts against them.
    Raises RunError where the run is locked, or where a task or its data changed since it began.
    """
    watcher = observer or Quiet()
    folder = RunFolder.open(path)
    with RunLock(path):
        manifest = folder.read_manifest()
        given = {"max_cost": max_cost, "max_calls": max_calls}
        manifest["options"] |= {name: limit for name, limit in given.items() if limit is not None}
        options = read_options(manifest["options"])
        plugins = load_plugins()
        plans = open_plans(manifest["requested"], options, plugins)
        _check_unchanged(manifest, plans, path)
        spent = Budget(options.max_cost, options.max_calls, *_spent(folder, plans))
        setup = open_setup([plan.task for plan in plans], manifest["roles"], options, plugins, spent)
        setup.open_parts()
        return _Run(folder, manifest, setup, plans, watcher).whole()


def rescore(path: Path, resources: Mapping[str, str] | None = None, observer: Observer | None = None) -> Finished:
    """Score the saved answers again with the tasks as they are now; the target model is not asked.

    `resources` are other instruments for the scoring. Raises RunError where the run is locked or its tasks are gone.
    """
    watcher = observer or Quiet()
    folder = RunFolder.open(path)
    with RunLock(path):
        manifest = folder.read_manifest()
        options = read_options(
            {**manifest["options"], "resources": {**manifest["options"]["resources"], **(resources or {})}}
        )
        plugins = load_plugins()
        plans = open_plans(manifest["requested"], options, plugins)
        setup = open_setup([plan.task for plan in plans], manifest["roles"], options, plugins)
        setup.open_parts()
        return _Run(folder, manifest, setup, plans, watcher).scored_again()


def _spent(folder: RunFolder, plans: Sequence[TaskPlan]) -> tuple[float, int]:
    """Return the cost and calls that the run has used up already."""
    cost, calls = 0.0, 0
    for plan in plans:
        for sample in folder.read_samples(plan.task.name):
            replies = [call.reply for call in sample.calls if call.reply is not None and not call.reply.get("cached")]
            cost += sum(reply.get("cost") or 0.0 for reply in replies)
            calls += len(replies)
    return cost, calls


def _check_unchanged(manifest: Mapping[str, Any], plans: Sequence[TaskPlan], path: Path) -> None:
    before = {task["task"]: task for task in manifest["tasks"]}
    for plan in plans:
        old, new = before.get(plan.task.name), task_data(plan)
        if old is None or old["hash"] != new["hash"] or old["dataset"] != new["dataset"]:
            what = "its data" if old is not None and old["hash"] == new["hash"] else "the task"
            raise RunError(
                f"{what} of {plan.task.name!r} changed since this run began",
                where=str(path),
                cure="Start a new run; or score the saved answers with the task as it is now: creval score "
                + str(path),
            )


class _Run:
    """The steps of one run over its open parts."""

    def __init__(
        self, folder: RunFolder, manifest: dict[str, Any], setup: Setup, plans: Sequence[TaskPlan], observer: Observer
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._setup = setup
        self._plans = plans
        self._observer = observer

    def whole(self) -> Finished:
        """Generate, score and aggregate."""
        self._manifest["sessions"].append({"started": now()})
        self._save("running")
        self._setup.plugins.hooks.creval_run_started(self._manifest, self._folder.path)
        try:
            return asyncio.run(self._work())
        except BaseException as error:
            self._save("interrupted" if isinstance(error, KeyboardInterrupt | asyncio.CancelledError) else "failed")
            raise

    def scored_again(self) -> Finished:
        """Score and aggregate what is saved."""
        return asyncio.run(self._score_only())

    async def _work(self) -> Finished:
        try:
            jobs = [Job(plan, self._setup.runtime(plan.task)) for plan in self._plans]
            budget = await generate(jobs, self._folder, self._setup.options.concurrency, self._observer)
            results, unpaid = await self._results("budget" if budget else "done")
            budget = budget or unpaid
        finally:
            await self._setup.close()
        self._manifest["sessions"][-1]["ended"] = now()
        self._manifest["finished"] = now()
        self._save("budget" if budget else "done")
        return self._finish(results, budget)

    async def _score_only(self) -> Finished:
        try:
            results, budget = await self._results(self._manifest["status"], again=True)
        finally:
            await self._setup.close()
        return self._finish(results, budget)

    async def _results(self, status: str, again: bool = False) -> tuple[dict[str, Any], BudgetError | None]:
        """Score and aggregate every task; returns results.json as data, and the budget's end where it came."""
        budget = None
        tasks = []
        for plan in self._plans:
            budget = await self._score_task(plan, again) or budget
            tasks.append(self._aggregate_task(plan))
        results = {
            "schema": 1,
            "creval": self._manifest["creval"],
            "run": self._folder.path.name,
            "model": self._manifest["roles"][TARGET],
            "roles": self._manifest["roles"],
            "seed": self._setup.options.seed,
            "status": "budget" if budget else status,
            "tasks": tasks,
        }
        check_results(results)
        write_json(self._folder.results, results)
        return results, budget

    async def _score_task(self, plan: TaskPlan, again: bool) -> BudgetError | None:
        self._observer.on_phase("score", plan.task.name, plan.total, 0)
        step = score_again if again else score_missing
        return await step(self._folder, self._setup.scoring(plan.task), self)

    def one(self, score: SampleScore) -> None:
        """A sample has been scored."""
        self._setup.plugins.hooks.creval_sample_finished(score)

    def some(self, count: int) -> None:
        """`count` samples have been scored."""
        self._observer.on_scored(count)

    def _aggregate_task(self, plan: TaskPlan) -> dict[str, Any]:
        """The third step of a task, from its files alone."""
        task = plan.task
        instruments = self._setup.instruments(task)
        tally, usage = TaskTally(metric_names(plan), [condition.name for condition in task.conditions]), UsageTally()
        for sample in self._folder.read_samples(task.name):
            usage.add(sample)
        for score in self._folder.read_scores(task.name):
            tally.add(score)
        metrics = aggregate_task(plan, tally, instruments, self._setup.plugins.registry, self._setup.options.seed)
        return task_results(plan, (tally, usage), metrics, instruments)

    def _finish(self, results: dict[str, Any], budget: BudgetError | None) -> Finished:
        self._setup.plugins.hooks.creval_run_finished(results, self._folder.path)
        self._observer.on_finish(results)
        return Finished(self._folder.path, results, budget)

    def _save(self, status: str) -> None:
        self._manifest["status"] = status
        self._manifest["models"] = {**self._manifest["models"], **self._setup.models.describe()}
        check_manifest(self._manifest)
        self._folder.write_manifest(self._manifest)
