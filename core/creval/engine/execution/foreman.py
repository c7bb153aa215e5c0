"""The foreman of a run: what it lends its executor."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from creval.engine.generation.sampling import make_sample
from creval.engine.generation.session import TaskRuntime
from creval.engine.planning.plan import TaskPlan
from creval.engine.roles.models import TARGET
from creval.engine.scoring.score import TaskScoring
from creval.engine.scoring.storing import Storing
from creval.engine.scoring.stream import score_stream
from creval.engine.setup import Setup
from creval.models.stats import ModelStats
from creval.types.execution import Executor, Made, Scored, Work
from creval.types.sample import Sample

__all__ = ["Crew", "RunForeman"]


class RunForeman:
    """The `Foreman` of one run, over its open parts."""

    def __init__(self, setup: Setup, plans: Sequence[TaskPlan]) -> None:
        self.setup = setup
        self.plans = plans
        self._runtimes: dict[str, TaskRuntime] = {}
        self._scorings: dict[str, TaskScoring] = {}

    @property
    def concurrency(self) -> int:
        return self.setup.in_flight

    def prepare(self) -> None:
        """Make what the samples of each task share; before the first one is made."""
        self._runtimes = {plan.task.name: self.setup.runtime(plan.task) for plan in self.plans}

    def make(self, work: Work) -> Awaitable[Made]:
        """Make a sample in this process."""
        return make_sample(self._runtimes[work.key.task], work)

    def scoring(self, plan: TaskPlan) -> TaskScoring:
        """Return what scoring a task needs, made when it is first asked for."""
        name = plan.task.name
        if name not in self._scorings:
            self._scorings[name] = replace(self.setup.scoring(plan.task), storing=Storing(plan.dataset))
        return self._scorings[name]

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: Scored) -> None:
        """Score samples of a task in this process. Raises BudgetError when those in flight have come to their end."""
        total = next(plan.total for plan in self.plans if plan.task.name == task)
        await score_stream(batches, self._scorings[task], min(self.concurrency, max(1, total)), scored)

    def target_stats(self) -> ModelStats:
        """Return what the target has done so far."""
        return self.setup.models.get(TARGET).stats()

    def stats(self) -> Mapping[str, ModelStats]:
        """Return what each model has done so far, by role."""
        return {role: model.stats() for role, model in self.setup.models.opened().items()}


class Crew(NamedTuple):
    """Who works on a run: the foreman over its parts, and the executor."""

    foreman: RunForeman
    executor: Executor
