"""The foreman of a run: what it lends its executor."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from creval.engine.execution.brief import make_brief, needs_of, private_of
from creval.engine.execution.desk import Desk
from creval.engine.execution.faults import read_error
from creval.engine.execution.packets import read_stats
from creval.engine.generation.sampling import make_sample
from creval.engine.generation.session import TaskRuntime
from creval.engine.planning.plan import TaskPlan
from creval.engine.roles.models import TARGET
from creval.engine.scoring.scoring_step import score_stream
from creval.engine.scoring.task_scoring import TaskScoring
from creval.engine.setup import Setup
from creval.models.model_stats import ModelStats
from creval.runs.record_data import read_sample, read_score, sample_data
from creval.types.execution import Executor, Made, ScoreSink, Work
from creval.types.sample import Sample

__all__ = ["Asked", "Crew", "RunForeman"]


class Asked(NamedTuple):
    """What was asked for: tasks as they were named, the models of all roles, whether people are asked.

    `task_files` take the place of tasks where a run is scored again; then the target is not asked (`target`).
    """

    requested: Sequence[str]
    roles: Mapping[str, str]
    people: bool = False
    task_files: Sequence[str] = ()
    target: bool = True


class RunForeman:
    """The `Foreman` of one run, over its open parts."""

    def __init__(self, setup: Setup, plans: Sequence[TaskPlan], asked: Asked) -> None:
        self.setup = setup
        self.plans = plans
        self._asked = asked
        self._desk = Desk(setup)
        self._elsewhere: dict[str, Mapping[str, ModelStats]] = {}
        self._runtimes: dict[str, TaskRuntime] = {}
        self._scorings: dict[str, TaskScoring] = {}

    @property
    def concurrency(self) -> int:
        return self.setup.in_flight

    @property
    def brief(self) -> Mapping[str, Any]:
        return make_brief(self.setup, self.plans, self._asked._asdict())

    @property
    def private(self) -> Mapping[str, Any]:
        return private_of(self.setup.options)

    @property
    def needs(self) -> Mapping[str, Mapping[str, int]]:
        target = self._asked.roles[TARGET] if self._asked.target else ""
        return {plan.task.name: needs_of(self.setup, plan.task, target) for plan in self.plans}

    def prepare(self) -> None:
        """Make what the samples of each task share, and the target ready; before the first one is made."""
        self._runtimes = {plan.task.name: self.setup.runtime(plan.task) for plan in self.plans}
        self.setup.models.get(TARGET).prepare()

    def rest(self) -> None:
        """Every sample is made: the target may let go of what it holds."""
        self.setup.models.get(TARGET).rest()

    def make(self, work: Work) -> Awaitable[Made]:
        """Make a sample in this process."""
        return make_sample(self._runtimes[work.key.task], work)

    def scoring(self, plan: TaskPlan) -> TaskScoring:
        """Return what scoring a task needs, made when it is first asked for."""
        name = plan.task.name
        if name not in self._scorings:
            self._scorings[name] = replace(self.setup.scoring(plan.task), dataset=plan.dataset)
        return self._scorings[name]

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples of a task in this process. Raises BudgetError when those in flight have come to their end."""
        total = next(plan.total for plan in self.plans if plan.task.name == task)
        await score_stream(batches, self._scorings[task], min(self.concurrency, max(1, total)), scored)

    def crossing(self, samples: Sequence[Sample]) -> Sequence[Mapping[str, Any]]:
        """Return saved samples as a workshop takes them."""
        return [sample_data(sample) for sample in samples]

    def made(self, told: Mapping[str, Any]) -> Made:
        """Return the sample that a workshop made. Raises what ended it and the run with it."""
        if "raised" in told:
            raise read_error(told["raised"])
        error = None if told["error"] is None else read_error(told["error"])
        return Made(read_sample(json.loads(told["line"])), error)

    def scored(self, told: Mapping[str, Any], scored: ScoreSink) -> None:
        """Hand over the scores of a workshop. Raises what ended the scoring."""
        scored([read_score(json.loads(line)) for line in told.get("lines", ())])
        if "raised" in told:
            raise read_error(told["raised"])

    async def answer(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer what a workshop asks."""
        return await self._desk.answer(worker, question)

    def hear(self, worker: str, note: Mapping[str, Any]) -> None:
        """Take a note of a workshop."""
        self._desk.hear(worker, note)

    def opened(self, worker: str, told: Mapping[str, Any]) -> None:
        """Take what a workshop has open and its models have done. Raises what kept it from opening."""
        if "raised" in told:
            raise read_error(told["raised"])
        for task, names in told["instruments"].items():
            self.setup.contexts[task].open_elsewhere(names, worker)
        self._elsewhere[worker] = {role: read_stats(stats) for role, stats in told["models"].items()}

    def lost(self, worker: str) -> None:
        """Take back what a worker held."""
        self._desk.lost(worker)

    def target_stats(self) -> ModelStats:
        """Return what the target has done so far, here and elsewhere."""
        here = self.setup.models.get(TARGET).stats()
        return _sum(here, [stats[TARGET] for stats in self._elsewhere.values() if TARGET in stats])

    def stats(self) -> Mapping[str, ModelStats]:
        """Return what each model has done so far, by role, here and elsewhere."""
        return {
            role: _sum(model.stats(), [stats[role] for stats in self._elsewhere.values() if role in stats])
            for role, model in self.setup.models.opened().items()
        }


def _sum(here: ModelStats, elsewhere: Sequence[ModelStats]) -> ModelStats:
    """Add what a model did elsewhere; the calls in flight and their limit are this process's."""
    if not elsewhere:
        return here
    names = [field.name for field in fields(ModelStats) if field.name not in ("usage", "in_flight", "limit")]
    sums = {name: sum((getattr(each, name) for each in elsewhere), getattr(here, name)) for name in names}
    return replace(here, usage=sum((each.usage for each in elsewhere), here.usage), **sums)


class Crew(NamedTuple):
    """Who works on a run: the foreman over its parts, and the executor."""

    foreman: RunForeman
    executor: Executor
