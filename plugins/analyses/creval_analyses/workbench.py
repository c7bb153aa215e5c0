"""Models, roles, resources and docs for a command or an analysis, opened as a run opens them.

Promised: these names follow semantic versioning. It imports the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from creval import RunOptions
from creval.plugin import Context, DataError, Doc, Message, Reply, Run, RunError, SampleKey, UsageError
from creval.plugin.analyses import (
    TARGET,
    Budget,
    CallJournal,
    CallOrigin,
    Claims,
    Ledger,
    Model,
    OpenResources,
    RoleAccess,
    RoleModels,
    RunFolder,
    RunLock,
    Task,
    TaskContext,
    TaskIndex,
    chosen_resources,
    drive,
    load_plugins,
    model_options,
    names_a_file,
    open_dataset,
    question_key,
    resource_options_of,
)
from creval.plugin.data import DataOptions
from creval.plugin.models import GenerateRequest, Origin

__all__ = ["Model", "Workbench"]

Result = TypeVar("Result")


class Workbench:
    """Models, roles, resources and docs for a command or an analysis of a plugin, each opened on first use.

    `options` name the models of roles, replacements of resources and limits of spending, as for a run.

    `options.base_url` and `options.generation` apply to the role `addressed`.

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
        """Return the model of a role: that of the options, else `default`.

        Raises UsageError if there is neither, and the errors of opening a model.
        """
        return self._models.get(role, default)

    @property
    def generation(self) -> dict[str, Any]:
        """The generation settings of the addressed role; if empty, the provider's defaults apply."""
        return {name: value for name, value in self.options.generation.items() if value is not None}

    def keep_calls(self, run: Run, others: Sequence[Run] = ()) -> None:
        """Store every call of `ask` in the ledger of a run, and reuse the answers in it and in `others`.

        The run is locked until the work is over. Raises RunError if another process is using it.
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
        """Ask the model of a role. `key` is the sample that the question is about; `settings` are generation settings.

        Without `draw` a repeated question gets a new answer. With it the answer is the one that a scorer gets
        (`Context.ask`), paid for once.
        Raises ModelError if the call fails, BudgetError if the limit is reached.
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
        """Mark an answer of `ask` as unreadable: it is not reused, and the same question gets a new answer."""
        self._ledger.unreadable(reply, reason)

    def resource(self, name: str, spec: str) -> Any:
        """Return an open resource: `name` is its kind (or a task's name for it), `spec` e.g. `embedded/minilm`.

        A choice for `name` in the options replaces `spec`. Raises MissingPartError, UnknownNameError, UsageError.
        """
        return self._bound(self._resources.get(name, self.options.resources.get(name, spec)))

    def resource_of(self, run: Run, task: str, name: str) -> Any:
        """Open and return a resource with which a task of a run was scored.

        It is opened by the specification used then, and must have the revision recorded then. A choice for `name` in
        the options replaces it, unchecked. Raises RunError if the run did not use such a resource, DataError if the
        revision now differs.
        """
        if name in self.options.resources:
            return self.resource(name, "")
        recorded = run.result(task)["instruments"].get(name)
        if recorded is None:
            raise RunError(f"{task!r} was scored without the resource {name!r}", where=str(run.folder))
        spec = self._resource_spec(run, task, name)
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
        """Return the context of a task's scorers: its resources and roles, with the choices in the options."""
        return self.context_of(self.task(task))

    def context_of(self, found: Task, first_draw: int = 0) -> TaskContext:
        """Return the context of a task; with `first_draw` roles give other answers than in the run's own scoring."""
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
        """Return plain data about the opened models, by role: name, settings, calls, tokens, cost."""
        return {
            role: {**model.describe(), "usage": model.stats().to_json()}
            for role, model in self._models.opened().items()
        }

    def work(self, doing: Callable[[], Awaitable[Result]]) -> Result:
        """Run `doing()` to its end, also inside a running event loop, then close everything."""

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
        """Let resources write pending data; for work that calls no model."""
        self._resources.close()

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _note(self, task: Task) -> None:
        if task.by_reference:
            self._private.update((task.name, task.qualified))

    def _is_private(self, task: str) -> bool:
        """Return whether a question about a task must not be stored; without a task of the run, it may be about any."""
        return task in self._private or (self._run is not None and task not in self._run.tasks and bool(self._private))

    def _bound(self, opened: Any) -> Any:
        """Bind a resource that asks a role to this workbench."""
        bind = getattr(opened, "bound", None)
        return opened if bind is None else bind(self, "")

    def _resource_spec(self, run: Run, task: str, name: str) -> str:
        """Return the specification of an opened resource: the recorded one, the user's choice, or the task's own."""
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
