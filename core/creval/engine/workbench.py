"""Models, roles, resources and docs for a command or an analysis, opened as a run opens them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.engine.event_loop import drive
from creval.engine.roles.context import (
    OpenResources,
    RoleAccess,
    TaskContext,
    chosen_resources,
    resource_options_of,
)
from creval.engine.roles.ledger import CallOrigin, Ledger, question_key
from creval.engine.roles.role_models import TARGET, RoleModels, model_options
from creval.engine.run_options import RunOptions
from creval.errors import DataError, RunError, UsageError
from creval.models.budget import Budget
from creval.models.model import Model
from creval.plugins.loader import load_plugins
from creval.runs.call_journal import CallJournal
from creval.runs.folder import RunFolder
from creval.runs.lock import RunLock
from creval.runs.reader import Run
from creval.runs.trust import Claims, names_a_file
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
from creval.types.components import Context
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.sample import Doc, SampleKey

__all__ = ["Workbench"]

Result = TypeVar("Result")


class Workbench:
    """What a command or an analysis of a plugin works with. Each part is opened when it is first asked for.

    `options` say which model plays a role, which resource replaces another, and what may be spent, as they do
    for a run. `addressed` is the role that `options.base_url` and `options.generation` belong to.

    Example, an analysis that embeds and asks a judge:
        bench = Workbench(RunOptions(roles={"judge": "openai/gpt-5-mini"}, offline=True))
        vectors = bench.resource("embedding", "embedded/minilm").embed(texts)
        verdicts = bench.work(lambda: judge_all(bench))  # awaits bench.ask("judge", ...); closes all at the end
    """

    def __init__(self, options: RunOptions | None = None, addressed: str = TARGET) -> None:
        self.options = options or RunOptions()
        self._plugins = load_plugins()
        self._index = TaskIndex(self._plugins)
        budget = Budget(self.options.max_cost, self.options.max_calls)
        self._models = RoleModels(
            self.options.roles, self._plugins.registry, model_options(self.options, budget), addressed
        )
        self._models.own = self.options.role_options
        self._resources = OpenResources(self._plugins.registry, resource_options_of(self.options))
        self._addressed = addressed
        self._ledger = Ledger(self.options.seed)
        self._lock: RunLock | None = None
        self._calls: Counter[tuple[SampleKey, str]] = Counter()
        self._drawn: Counter[str] = Counter()
        self._run: Run | None = None
        self._private: set[str] = set()

    def model(self, role: str, default: str | None = None) -> Model:
        """Return the model that plays a role: the one of the options, else `default`.

        Raises UsageError where there is neither, and what opening a model raises.
        """
        return self._models.get(role, default)

    @property
    def generation(self) -> dict[str, Any]:
        """The generation settings of the addressed role. Without any the provider's defaults hold."""
        return {name: value for name, value in self.options.generation.items() if value is not None}

    def keep_calls(self, run: Run, others: Sequence[Run] = ()) -> None:
        """Keep every call of `ask` in the ledger of a run, and give again the answers that it and `others` hold.

        The run is locked until the work is over. Raises RunError where another process works in it.
        """
        self._lock = RunLock(run.folder)
        self._lock.__enter__()
        journals = [CallJournal(RunFolder.open(other.folder), read_only=True) for other in others]
        self._ledger.keep_in(CallJournal(RunFolder.open(run.folder)), journals)
        self._run = run
        entries = (entry for each in (run, *others) for entry in each.manifest["tasks"])
        self._private.update(entry["task"] for entry in entries if entry.get("by_reference"))

    async def ask(
        self, role: str, messages: Sequence[Message], key: SampleKey, draw: int | None = None, **settings: Any
    ) -> Reply:
        """Ask the model of a role. `key` names what the question is about; `settings` are generation settings.

        Without `draw` the same question asked again gets a new answer. With
        it the answer is the one that a scorer gets (`Context.ask`): paid once. Raises ModelError where
        the call fails, BudgetError where the limit is reached.
        """
        origin = Origin(key, role, self._calls[key, role])
        self._calls[key, role] += 1
        if role == self._addressed:
            settings = {**self.generation, **settings}
        settings |= self._models.settings(role)
        n = int(settings.pop("n", 1))
        request = GenerateRequest(tuple(messages), settings, origin, n, by_reference=self._is_private(key.task))
        model = self.model(role)
        if draw is not None:
            return await self._ledger.ask(model, request, CallOrigin("analysis", draw))
        question = question_key(model, request, CallOrigin("analysis", about_sample=True))
        asking = CallOrigin("analysis", self._drawn[question], about_sample=True)
        self._drawn[question] += 1
        return await self._ledger.ask(model, request, asking)

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Say that an answer of `ask` cannot be read: it is not given again; the same question gets a new answer."""
        self._ledger.unreadable(reply, reason)

    def resource(self, name: str, spec: str) -> Any:
        """Return an open resource: `name` is its kind (or a task's name for it), `spec` e.g. `embedded/minilm`.

        The options' own choice for `name` takes the place of `spec`. Raises MissingPartError, UnknownNameError,
        UsageError.
        """
        return self._bound(self._resources.get(name, self.options.resources.get(name, spec)))

    def resource_of(self, run: Run, task: str, name: str) -> Any:
        """Return a resource that a task of a run was scored with, open.

        It is opened by what was asked for when the run was scored, and has to be what was recorded then. The options'
        own choice for `name` takes its place, unchecked. Raises RunError where the run did not use such a resource,
        DataError where what opens now is another revision.
        """
        if name in self.options.resources:
            return self.resource(name, "")
        recorded = run.result(task)["instruments"].get(name)
        if recorded is None:
            raise RunError(f"{task!r} was scored without the resource {name!r}", where=str(run.folder))
        spec = self._asked(run, task, name)
        if names_a_file(spec, run.folder) and not Claims.of_run(run.manifest, run.folder).trusted:
            what = f"it was not made here, and {task!r} was scored with a file of this machine: {spec}"
            raise UsageError(what, where=str(run.folder), fix=f"If you trust it, add: --resource {name}={spec}")
        opened = self._resources.get(name, spec)
        now = getattr(opened, "name", spec)
        if recorded not in (now, spec):
            raise DataError(
                f"{task!r} was scored with {recorded}, but {spec} is {now} here",
                where=str(run.folder),
                fix=f"Install what it was scored with, or score it again: {run.score_command}",
            )
        return self._bound(opened)

    def task(self, name: str) -> Task:
        """Return a task by name or YAML path. Raises UnknownNameError, TaskError."""
        (task,) = self._index.expand([name])
        self._note(task)
        return task

    def context(self, task: str) -> Context:
        """Return what the scorers of a task are given: its resources and roles, with the options' own choices."""
        return self.context_of(self.task(task))

    def context_of(self, found: Task, first_draw: int = 0) -> TaskContext:
        """Return the context of a task; with `first_draw` roles give other answers than the run's own scoring got."""
        specs = chosen_resources(found.resources, self.options.resources)
        context = TaskContext(found, self.options.seed, specs, self._resources, RoleAccess(self._models, self._ledger))
        context.first_draw = first_draw
        return context

    def docs(self, tasks: Sequence[str]) -> Iterator[tuple[str, Doc]]:
        """Yield each doc of tasks (names, suites, YAML paths) with its task's name. Raises DataError, TaskError."""
        options = DataOptions.from_environment(offline=self.options.offline)
        for task in self._index.expand(list(tasks)):
            self._note(task)
            dataset = open_dataset(task.dataset, self._plugins.registry, options)
            for index in range(len(dataset)):
                yield task.name, dataset[index]

    def describe(self) -> dict[str, Any]:
        """Return plain data on the models that were opened, by role: name, settings, calls, tokens, cost."""
        return {
            role: {**model.describe(), "usage": model.stats().to_json()}
            for role, model in self._models.opened().items()
        }

    def work(self, doing: Callable[[], Awaitable[Result]]) -> Result:
        """Run `doing()` to its end, also where an event loop runs already, then close all that is open."""

        async def whole() -> Result:
            try:
                return await doing()
            finally:
                await self._ledger.close()
                if self._lock is not None:
                    self._lock.__exit__(None, None, None)
                await self._models.close()
                self._resources.close()

        return drive(whole())

    def close(self) -> None:
        """Let resources write what they still hold; for work that asks no model."""
        self._resources.close()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _note(self, task: Task) -> None:
        if task.by_reference:
            self._private.update((task.name, task.qualified))

    def _is_private(self, task: str) -> bool:
        """Whether a question about a task may not be stored; one that names no task of the run may be about any."""
        return task in self._private or (self._run is not None and task not in self._run.tasks and bool(self._private))

    def _bound(self, opened: Any) -> Any:
        """Let a resource that asks a role ask through this workbench."""
        bind = getattr(opened, "bound", None)
        return opened if bind is None else bind(self, "")

    def _asked(self, run: Run, task: str, name: str) -> str:
        """Return the specification that a resource was opened by: recorded, chosen by the user, or the task's own."""
        said: Mapping[str, str] = run.result(task).get("asked_instruments", {})
        if name in said:
            return said[name]
        rescored = run.manifest.get("rescored") or [{}]
        chosen = rescored[-1].get("resources") or run.manifest["options"]["resources"]
        if name in chosen:
            return str(chosen[name])
        own = self.task(_qualified(run, task)).resources
        if name not in own:
            raise RunError(f"{task!r} names no resource {name!r} any more", where=str(run.folder))
        return own[name]


def _qualified(run: Run, task: str) -> str:
    return str(next(entry["qualified"] for entry in run.manifest["tasks"] if entry["task"] == task))
