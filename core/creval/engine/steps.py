"""The three steps of a run over its open parts, with files between them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from creval.engine.event_loop import drive
from creval.engine.execution import Execution
from creval.engine.generation.generate import Job, SampleMaker, generate
from creval.engine.manifest import core_version, library_data, now, plugin_data
from creval.engine.observer import Observer
from creval.engine.planning.plan import TaskPlan
from creval.engine.resuming.resume_state import ResumeState
from creval.engine.roles.role_models import TARGET
from creval.engine.scoring.aggregate import TaskUsage, aggregate_task, task_results
from creval.engine.scoring.scoring_step import Scoring, ScoringWatch, score_again, score_missing
from creval.engine.scoring.tally import ResumableTally, empty_tally
from creval.engine.shared_answers import copy_shared
from creval.errors import BudgetError, CrevalError, DetachedError, RunError, ScoringError
from creval.interruption import CURRENT
from creval.models.answers.read_answers import READING_VERSION, reading_version
from creval.opener import remove, rename
from creval.runs.folder import FORMAT_VERSION, RunFolder
from creval.runs.labelled import read_labelled
from creval.runs.run_commands import resume_command, score_command
from creval.runs.schemas import check_manifest, check_results
from creval.types.sample import ScoreRecord

__all__ = ["Finished", "RunSteps"]

_Step = Callable[[RunFolder, ResumeState[Any], Scoring, ScoringWatch], Awaitable[BudgetError | None]]
_LOG = logging.getLogger("creval")


class Finished(NamedTuple):
    """A run that has ended: folder, results.json as data, and the budget's message if it stopped early."""

    folder: Path
    results: Mapping[str, Any]
    budget: BudgetError | None = None


class RunSteps:
    """The steps of one run over its open parts."""

    def __init__(
        self,
        folder: RunFolder,
        manifest: dict[str, Any],
        execution: Execution,
        observer: Observer,
        states: Mapping[str, ResumeState[ResumableTally]],
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._context, self._executor = execution
        self._setup = setup = self._context.setup
        self._plans = self._context.plans
        self._observer = observer
        self._states = states
        self._older = False
        self._reading = READING_VERSION
        setup.ledger.watch = lambda: observer.on_roles(setup.ledger.counts())
        setup.models.options.limiters.watch = getattr(observer, "on_rate_limit", None)
        if setup.models.batching is not None:
            setup.models.batching.watch = getattr(observer, "on_batches", None)

    def whole(self) -> Finished:
        """Generate, score and aggregate."""
        begun_with = reading_version(self._manifest)
        if self._is_scored():
            self._reading = begun_with  # nothing is left to be read: its numbers stay unchanged
        self._older = begun_with < self._reading
        self._manifest["attempts"].append({"started": now(), "reading": self._reading})
        self._save("running")
        if self._older:
            self._warn_of_reading("all of them are scored again")
        if self._older or self._manifest["rescored"]:  # scored by other rules or resources: score everything again
            for state in self._states.values():
                state.begin_scores()
        self._warn_of_faults()
        self._setup.plugins.hooks.creval_run_started(self._manifest, self._folder.path)
        command = resume_command(self._folder.path, self._manifest)
        if self._setup.models.batching is not None:
            self._setup.models.batching.resume_command = command
        interruption = CURRENT.get()
        if interruption is not None:
            interruption.resume_command = command
        try:
            return drive(self._work())
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            status = "interrupted" if interrupted else "detached" if isinstance(error, DetachedError) else "failed"
            with contextlib.suppress(CrevalError):  # a full disk must not hide the first error
                self._end(status)
            with_fix = isinstance(error, RunError | ScoringError)  # their fixes already say how to continue
            if interrupted or (isinstance(error, CrevalError) and not with_fix):
                error.add_note(f"{self._saved_words()} Resume with: {command}")
                self._note_batches(error)
            raise

    def _saved_words(self) -> str:
        some = any(file.exists() and file.stat().st_size for file in map(self._folder.samples, self._states))
        return "Finished samples are saved." if some else "No sample is finished yet."

    def _is_scored(self) -> bool:
        """Whether every sample has its score, all with the resources of the run's start."""
        return not self._manifest["rescored"] and all(state.complete for state in self._states.values())

    def _warn_of_faults(self) -> None:
        """Warn, in one line each, of components that raised and are not tried again because their code is unchanged."""
        command = score_command(self._folder.path, self._manifest)
        for rows, fix in (("scores", command), ("samples", "start a new run")):
            counts: Counter[str] = Counter()
            for state in self._states.values():
                for fault, count in getattr(state, rows).faults.items():
                    if fault.component.startswith("protocol") == (rows == "samples"):
                        counts[fault.component] += count
            for component, count in sorted(counts.items()):
                message = "%d %s stay errored: the %s raised on them, and its code has not changed. To try anyway: %s"
                _LOG.warning(message, count, rows, component, fix)

    def _note_batches(self, error: BaseException) -> None:
        """Add to the error that batches are pending at the provider, if there are any."""
        batching = self._setup.models.batching
        if batching is not None and batching.counts.batches:
            counts = batching.counts
            error.add_note(f"That also collects {counts.requests:,} requests, which are pending in batches.")

    def scored_again(self) -> Finished:
        """Score and aggregate the saved samples."""
        if reading_version(self._manifest) < READING_VERSION:
            self._warn_of_reading("numbers may differ")
        return drive(self._score_only())

    async def _work(self) -> Finished:
        try:
            await self._executor.open(self._context)
            jobs = [Job(plan, self._states[plan.task.name]) for plan in self._plans if plan.shares is None]
            incomplete = any(job.state.samples.sound < job.state.total for job in jobs)
            if incomplete:
                self._context.prepare()
            maker = SampleMaker(self._executor.make, self._context.concurrency, self._context.target_stats)
            budget = await generate(jobs, maker, self._observer)
            if incomplete:
                self._context.rest()
            self._copy_shared()
            results, unpaid = await self._results("budget" if budget else "done")
            budget = budget or unpaid
        finally:
            await self._close()
        self._clear_batches(budget)
        self._manifest["finished"] = now()
        if self._older:
            self._note_rescored()
        self._end("budget" if budget else "done")
        return self._finish(results, budget)

    def _copy_shared(self) -> None:
        """Copy answers to each task that asks the same as another one."""
        for plan in self._plans:
            if plan.shares is not None:
                copy_shared(self._folder, plan, self._states[plan.task.name])

    def _clear_batches(self, budget: BudgetError | None) -> None:
        """Remove the batches' copy of answers once every sample and call has its own."""
        if self._setup.models.batching is not None and budget is None:
            self._setup.models.batching.drop_answers()

    async def _score_only(self) -> Finished:
        try:
            await self._executor.open(self._context)
            for plan in self._plans:
                if plan.shares is not None:  # scoring again does not read samples beforehand
                    self._states[plan.task.name].load()
            self._copy_shared()
            results, budget = await self._results(self._manifest["status"], again=True)
        finally:
            await self._close()
        self._clear_batches(budget)
        self._note_rescored()
        self._save(self._manifest["status"])
        return self._finish(results, budget)

    async def _close(self) -> None:
        """Close the executor, and then the parts that its workers may still use."""
        try:
            await self._executor.close()
        finally:
            await self._setup.close()

    def _note_rescored(self) -> None:
        self._manifest["rescored"].append(
            {
                "at": now(),
                "reading": READING_VERSION,
                "creval": core_version(self._setup.plugins),
                "plugins": plugin_data(self._setup.plugins),
                "libraries": library_data(),
                "resources": dict(self._setup.options.resources),
                "roles": dict(self._setup.options.roles),
                "models": self._model_stats(),
                "tasks": {plan.task.name: plan.task.hash for plan in self._plans},
            }
        )

    def _warn_of_reading(self, consequence: str) -> None:
        _LOG.warning(
            "this run's answers were read by version %d of creval's rules; they are now read by version %d: %s",
            reading_version(self._manifest),
            READING_VERSION,
            consequence,
        )

    def _end(self, status: str) -> None:
        """Record in the manifest how this attempt ended, with the statistics of its models."""
        self._manifest["attempts"][-1] |= {"ended": now(), "status": status, "models": self._model_stats()}
        self._save(status)

    def _model_stats(self) -> dict[str, dict[str, float]]:
        """Return the statistics of each model in this process, and the number of answers that the ledger reused."""
        models = {role: stats.to_json() for role, stats in self._context.stats().items()}
        for role, counts in self._setup.ledger.counts().items():
            for name, stats_of_model in models.items():
                if name.partition("=")[0] == role:
                    stats_of_model["reused"] = counts.reused
        return models

    async def _results(self, status: str, again: bool = False) -> tuple[dict[str, Any], BudgetError | None]:
        """Score and aggregate every task; return results.json as data, and the BudgetError that ended it, if any."""
        try:
            budget = await (self._score_anew() if again else self._score_missing())
        except CrevalError as error:
            if self._setup.models.batching is not None:  # pending batches may take a day, and are not lost
                self._setup.models.batching.fail_waiting(error)
            await self._setup.ledger.finish_pending()
            raise
        await self._setup.ledger.finish_pending()
        tasks = [self._aggregate_task(plan) for plan in self._plans]
        results = {
            "schema": FORMAT_VERSION,
            "creval": core_version(self._setup.plugins),
            "run": self._folder.path.name,
            "model": self._manifest["roles"][TARGET],
            "roles": {**self._manifest["roles"], **self._setup.options.roles},
            "seed": self._setup.options.seed,
            "reading": self._reading,
            "status": "budget" if budget else status,
            "tasks": tasks,
        }
        if any(plan.task.suites for plan in self._plans):
            from creval.engine.scoring.suite_results import suite_results

            results["suites"] = suite_results([plan.task for plan in self._plans], tasks)
        check_results(results)
        self._folder.write_results(results)
        return results, budget

    async def _score_missing(self) -> BudgetError | None:
        budget = None
        for plan in self._plans:
            budget = await self._score_task(plan, score_missing) or budget
        return budget

    async def _score_anew(self) -> None:
        """Score all tasks again; the new scores replace the old ones only when all are complete.

        Raises BudgetError if the limit is reached before, and RunError if a role answered nothing; the old scores are
        kept then.
        """
        names = [plan.task.name for plan in self._plans]
        try:
            for plan in self._plans:
                budget = await self._score_task(plan, score_again)
                if budget is not None:
                    fix = "The old scores and the paid answers are kept. Score again with a higher limit."
                    raise BudgetError(budget.what, where=str(self._folder.path), fix=fix)
            self._check_answered()
            for name in names:
                rename(self._folder.new_scores(name), self._folder.scores(name))
        finally:
            for name in names:
                remove(self._folder.new_scores(name))

    def _check_answered(self) -> None:
        """Raise RunError if a role answered nothing at all: scores without it are no better than the old ones."""
        for role in self._setup.ledger.counts():
            error = self._setup.ledger.silent(role)
            if error is not None:
                what = f"the {role} answered no question: {error}"
                raise RunError(what, where=str(self._folder.path), fix="The old scores are kept.")

    async def _score_task(self, plan: TaskPlan, step: _Step) -> BudgetError | None:
        self._observer.on_phase("score", plan.task.name, plan.total, 0)
        scoring = Scoring(self._context.scoring(plan), self._executor.score, self._executor.batch)
        return await step(self._folder, self._states[plan.task.name], scoring, self)

    def one(self, score: ScoreRecord) -> None:
        """A sample has been scored."""
        self._setup.plugins.hooks.creval_sample_finished(score)

    def some(self, count: int) -> None:
        """`count` samples have been scored."""
        self._observer.on_scored(count)

    def _aggregate_task(self, plan: TaskPlan) -> dict[str, Any]:
        """Run the third step of a task: compute metrics from its file of scores."""
        task = plan.task
        used_resources = self._setup.used_resources(task)
        state = self._states[task.name]
        tally = state.scores.summary.whole()
        if tally is None:
            tally = empty_tally(plan)
            for record in self._folder.score_rows(task.name):
                tally.add_row(record)
        try:
            registry, seed = self._setup.plugins.registry, self._setup.options.seed
            stored = partial(self._folder.read_scores, task.name)
            metrics = aggregate_task(plan, tally, used_resources, registry, seed, stored)
        except ScoringError as error:
            advice = f"The samples are saved; then: {score_command(self._folder.path, self._manifest)}"
            fix = f"{error.fix or 'Correct the scorer.'} {advice}"
            raise ScoringError(error.what, where=error.where, fix=fix) from error
        usage = TaskUsage(state.samples.summary.usage, self._setup.ledger.usage(task.name))
        labelled = read_labelled(self._folder.path)
        return task_results(plan, (tally, usage), metrics, used_resources, labelled)

    def _finish(self, results: dict[str, Any], budget: BudgetError | None) -> Finished:
        self._setup.plugins.hooks.creval_run_finished(results, self._folder.path)
        self._observer.on_finish(deepcopy(results))
        for failure in self._setup.plugins.hooks.failures:
            _LOG.warning("the plugin %s failed as an observer: %s", failure.name, failure.error)
        return Finished(self._folder.path, results, budget)

    def _save(self, status: str) -> None:
        self._manifest["status"] = status
        self._manifest["models"] = {**self._manifest["models"], **self._setup.models.describe()}
        check_manifest(self._manifest)
        self._folder.write_manifest(self._manifest)
