"""Executors, which carry out the samples of a run: their context, the executor `local`, and opening one."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple

from creval.engine.generation.sampling import make_sample
from creval.engine.generation.session import TaskRuntime
from creval.engine.planning.plan import TaskPlan
from creval.engine.roles.role_models import TARGET
from creval.engine.scoring.scoring_step import score_stream
from creval.engine.scoring.task_scoring import BATCH, TaskScoring
from creval.engine.setup import Setup
from creval.errors import PluginError, UnknownNameError, UsageError
from creval.models.model_stats import ModelStats
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Registry
from creval.types.execution import ExecutionContext, Executor, ItemResult, ScoreSink, WorkItem
from creval.types.sample import Sample

__all__ = ["LOCAL", "Execution", "LocalExecutor", "RunContext", "RunRequest", "open_executor"]

LOCAL = "local"
_MEMBERS = ("remote", "batch", "open", "make", "score", "close")
_OPTION = "--executor"


class RunRequest(NamedTuple):
    """What the user requested: the tasks by name, the models of all roles, whether people answer.

    `task_files` replace tasks if a run is scored again; then the target is not asked (`target`).
    """

    tasks: Sequence[str]
    roles: Mapping[str, str]
    people: bool = False
    task_files: Sequence[str] = ()
    target: bool = True


class RunContext:
    """The `ExecutionContext` of one run, over its open parts."""

    def __init__(self, setup: Setup, plans: Sequence[TaskPlan], request: RunRequest) -> None:
        self.setup = setup
        self.plans = plans
        self.request = request
        self._remote: dict[str, Mapping[str, ModelStats]] = {}
        self._runtimes: dict[str, TaskRuntime] = {}
        self._scorings: dict[str, TaskScoring] = {}

    @property
    def concurrency(self) -> int:
        return self.setup.in_flight

    def prepare(self) -> None:
        """Create what the samples of each task share, and prepare the target, before the first sample."""
        self._runtimes = {plan.task.name: self.setup.runtime(plan.task) for plan in self.plans}
        self.setup.models.get(TARGET).prepare()

    def rest(self) -> None:
        """Let the target release its resources: every sample is made."""
        self.setup.models.get(TARGET).rest()

    def make(self, item: WorkItem) -> Awaitable[ItemResult]:
        """Make a sample in this process."""
        return make_sample(self._runtimes[item.key.task], item)

    def scoring(self, plan: TaskPlan) -> TaskScoring:
        """Return the scoring of a task, created on the first call."""
        name = plan.task.name
        if name not in self._scorings:
            self._scorings[name] = replace(self.setup.scoring(plan.task), dataset=plan.dataset)
        return self._scorings[name]

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples of a task in this process. Raises BudgetError once the samples in flight are finished."""
        total = next(plan.total for plan in self.plans if plan.task.name == task)
        await score_stream(batches, self._scorings[task], min(self.concurrency, max(1, total)), scored)

    def record_stats(self, worker: str, stats: Mapping[str, ModelStats]) -> None:
        """Record the statistics of the models of another process so far, by role."""
        self._remote[worker] = stats

    def target_stats(self) -> ModelStats:
        """Return the statistics of the target so far, over all processes."""
        return self._sum(TARGET, self.setup.models.get(TARGET).stats())

    def stats(self) -> Mapping[str, ModelStats]:
        """Return the statistics of each model so far, by role, over all processes."""
        return {role: self._sum(role, model.stats()) for role, model in self.setup.models.opened().items()}

    def _sum(self, role: str, local: ModelStats) -> ModelStats:
        """Add the statistics of other processes; calls in flight and their limit are only those of this process."""
        remote = [stats[role] for stats in self._remote.values() if role in stats]
        if not remote:
            return local
        names = [field.name for field in fields(ModelStats) if field.name not in ("usage", "in_flight", "limit")]
        sums = {name: sum((getattr(each, name) for each in remote), getattr(local, name)) for name in names}
        return replace(local, usage=sum((each.usage for each in remote), local.usage), **sums)


class Execution(NamedTuple):
    """A run's context and the executor that works with it."""

    context: RunContext
    executor: Executor


class LocalExecutor:
    """Makes and scores samples in this process, in its one event loop. It has no address and no options."""

    remote = False
    batch = BATCH

    def __init__(self, address: str | None, options: Mapping[str, str]) -> None:
        if address is not None:
            raise UsageError("the local executor has no address", where=_OPTION, fix="Write: --executor local")
        if options:
            name = next(iter(options))
            raise UsageError(
                f"the local executor has no option {name!r}", where="--executor-option", fix="Leave it out."
            )
        self._context: ExecutionContext | None = None

    async def open(self, context: ExecutionContext) -> None:
        """Keep the run's context."""
        self._context = context

    def make(self, item: WorkItem) -> Awaitable[ItemResult]:
        """Make one sample."""
        assert self._context is not None
        return self._context.make(item)

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score a task's samples."""
        assert self._context is not None
        await self._context.score(task, batches, scored)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def open_executor(spec: str, options: Mapping[str, str], registry: Registry) -> Executor:
    """Return the executor that `spec` names, with its address after `://`; nothing is started yet.

    Raises UnknownNameError with the nearest names, UsageError (an address or option that it does not accept),
    MissingPartError (a package that it needs is absent), PluginError if the plugin's factory does not return an
    executor.
    """
    name, sign, address = spec.partition("://")
    if sign and not address:
        raise UsageError(f"{spec!r} names no address", where=_OPTION, fix=f"Write {name}://HOST:PORT, or {name}.")
    names = registry.names("executor")
    if name.rpartition("/")[2] not in names:
        absent = absent_distribution("executor", name)
        note = f"It comes with {absent}: pip install {absent}" if absent else "Plugins add others: creval ls --registry"
        hint = f"Installed: {', '.join(names)}. {note}"
        raise UnknownNameError("executor", name, names, where=_OPTION, hint=hint)
    component = registry.get("executor", name, where=_OPTION)
    executor: Executor = component.load()(address or None, dict(options))
    missing = [member for member in _MEMBERS if not hasattr(executor, member)]
    if missing:
        raise PluginError(
            f"the executor {component.name!r} returns an object without {', '.join(missing)}",
            where=f"plugin {component.plugin}",
            fix="See Executor in docs/reference-plugin.md.",
        )
    return executor
