"""Opens everything that a run needs, in one place, before the first call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.engine.generation.session import TaskRuntime
from creval.engine.planning.check_plans import check_plan
from creval.engine.planning.plan import TaskPlan, check_named_docs, for_people, plan_task, with_own_grid
from creval.engine.roles.context import (
    OpenResources,
    RoleAccess,
    TaskContext,
    chosen_resources,
    resource_options_of,
    with_roles,
)
from creval.engine.roles.ledger import Ledger
from creval.engine.roles.role_models import TARGET, Others, RoleModels, model_options
from creval.engine.run_options import RunOptions
from creval.engine.scoring.task_scoring import TaskScoring, make_scoring
from creval.engine.scoring.used_resources import UsedResources
from creval.errors import CrevalError, PluginError, UnknownNameError, UsageError
from creval.models.answers.thinking import tags_in, tags_in_parameters
from creval.models.batching import open_batching
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool
from creval.models.model import Model
from creval.models.model_options import RunTasks
from creval.parsing.chain import build_chain
from creval.plugins.distributions import absent_distribution
from creval.plugins.loader import Plugins
from creval.plugins.registry import Component, Registry
from creval.resources.open_resource import resolve
from creval.tasks.index import TaskIndex
from creval.tasks.prompt_overrides import check_system, with_examples
from creval.tasks.sections.settings import generation_settings
from creval.tasks.task_components import whole
from creval.tasks.task_model import ComponentRef, Task
from creval.types.components import Baseline, Context
from creval.types.kinds import Kind

if TYPE_CHECKING:
    from creval.types.screens import Seat

__all__ = ["Common", "Setup", "open_plans", "open_setup"]


@dataclass(frozen=True, slots=True)
class Common:
    """Existing parts that a run uses instead of new ones: the budget (with the spending of a resumed run), the limits
    of providers, the ledger, the models of other roles than the target, and the open resources.
    """

    budget: Budget
    limiters: LimiterPool = field(default_factory=LimiterPool)
    ledger: Ledger | None = None
    others: Others | None = None
    resources: OpenResources | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """A run's open parts. Close it at the end."""

    plugins: Plugins
    options: RunOptions
    models: RoleModels
    ledger: Ledger
    resources: OpenResources
    contexts: Mapping[str, TaskContext]
    tasks: Sequence[Task]

    def runtime(self, task: Task) -> TaskRuntime:
        """Return the part of the set-up that the samples of a task share."""
        registry = self.plugins.registry
        protocol = registry.get("protocol", task.protocol.name)
        return TaskRuntime(
            task=task,
            protocol=protocol.load()(**task.protocol.parameters),
            chain=build_chain(task.parse, registry),
            context=self.contexts[task.name],
            models=self.models,
            ledger=self.ledger,
            generation=task.generation,
            overrides=self.options.generation,
            system=self.options.system,
            condition_names=frozenset(generation_settings()),
            seed=self.options.seed,
            own_tags=_own_tags(task),
            keep_reasoning=task.keep_reasoning,
            answers=protocol.protocol_traits(task.protocol.parameters).n,
        )

    def scoring(self, task: Task) -> TaskScoring:
        """Return the scoring of a task."""
        return make_scoring(task, self.plugins.registry, self.contexts[task.name])

    def open_parts(self, target: bool = True, resources: bool = True, check: bool = False) -> None:
        """Open the target (if `target`), the models of all roles, and then the resources in use.

        Missing parts must be found before the first call, not after the last. Without `resources` workers open these
        elsewhere, and only the consent to run programs is checked. `check`: models look for their keys first.
        Raises MissingPartError, UnknownNameError, UsageError (a sandbox without consent to run code, a task without the
        baseline that should play it).
        """
        spec = self.models.get(TARGET).spec if target else ""
        if target:
            self.check_target(spec)
        for task in self.tasks:
            self._load(task, spec)
            for role in task.roles:
                default = task.role_models.get(role)
                with self.models.explained(role, default):
                    model = self.models.get(role, default)
                    _check_modalities(task, role, model)
                    model.prepare()
                    if check:
                        model.check()
        if target and check:
            self.models.get(TARGET).check()
        for task in self.tasks:
            if resources:
                self.open_resources(task, spec)
            else:
                self.contexts[task.name].check_consent(self.uses(task, spec))

    def check_target(self, spec: str) -> None:
        """Raise UsageError if the target cannot do what a task requires."""
        _check_baseline(self.tasks, spec)
        model = self.models.get(TARGET)
        _check_continuing(self.tasks, model)
        for task in self.tasks:
            _check_modalities(task, None, model)
        _check_likelihoods(self.tasks, model, self.plugins.registry)

    def open_resources(self, task: Task, target: str) -> None:
        """Open the resources that a task's components use, with `target` as its model. Raises as `open_parts` does."""
        for name in self.uses(task, target):
            getattr(self.contexts[task.name].resource(name), "name", None)  # loads the weights behind the name

    def _load(self, task: Task, target: str) -> None:
        """Import and make every component of a task once. Raises PluginError, MissingPartError, UsageError."""
        provider, _, which = target.partition("/")
        try:
            self.runtime(task)
            for part in self.scoring(task).scorers:
                getattr(part.scorer, "check_roles", _no_check)(self.contexts[task.name])
            for metric in task.metrics:
                _build(self.plugins.registry.get("aggregation", metric.aggregate.name), metric.aggregate)
            if provider == "baseline":
                _build(self.plugins.registry.get("baseline", task.baselines[which].name), task.baselines[which])
        except CrevalError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError(
                f"a component of {task.name!r} cannot be made: {type(error).__name__}: {error}",
                where=str(task.file),
                fix="Run it again with --debug to see where.",
            ) from error

    def uses(self, task: Task, target: str) -> Sequence[str]:
        """Return the names of the resources that a task's components use, with `target` as its model."""
        return list(dict.fromkeys(name for part in self._parts(task, target) for name in part.uses))

    def parts(self, task: Task, target: str) -> Sequence[Component]:
        """Return the components that a task uses, including its resources, with `target` as its model."""
        registry, specs = self.plugins.registry, self.contexts[task.name].specs
        resources = [resolve(name, specs[name], registry)[0] for name in self.uses(task, target) if name in specs]
        provider = registry.find("provider", target.partition("/")[0])
        return [*self._parts(task, target), *resources, *([provider] if provider is not None else [])]

    def _parts(self, task: Task, target: str) -> Sequence[Component]:
        registry = self.plugins.registry
        refs: list[tuple[Kind, ComponentRef]] = [("protocol", task.protocol)]
        refs += [("parser", ref) for chain in task.chains.values() for ref in chain]
        refs += [("scorer", ref) for ref in task.score]
        provider, _, which = target.partition("/")
        if provider == "baseline" and which in task.baselines:
            refs.append(("baseline", task.baselines[which]))
        return [part for kind, ref in refs for part in whole(registry.get(kind, ref.name), ref, registry)]

    def used_resources(self, task: Task) -> UsedResources:
        """Return the resources and models of roles behind a task's numbers."""
        names, target = self.contexts[task.name].names(), self.models.named(TARGET) or ""
        return UsedResources.of(task, self.options, names, target, self.uses(task, ""))

    @property
    def in_flight(self) -> int:
        """The number of samples that may run at once: with batches, the largest batch."""
        options = self.options
        return max(options.concurrency, options.batch_size) if self.models.batched else options.concurrency

    async def close(self) -> None:
        """Close models and resources."""
        await self.ledger.close()
        await self.models.close()
        self.resources.close()


def _no_check(_: Context) -> None:
    """The check of scorers that have nothing to check."""


def _own_tags(task: Task) -> frozenset[str]:
    """Return the thinking tags that the task's prompts or parsers name, as it uses them for another purpose."""
    prompts = tags_in(message.template for messages in task.prompts.values() for message in messages)
    parsers = [tags_in_parameters(ref.parameters, ref.name) for chain in task.chains.values() for ref in chain]
    return prompts.union(*parsers, tags_in_parameters(task.protocol.parameters))


def _build(component: Component, ref: ComponentRef) -> Any:
    return component.load()(**ref.parameters)


def open_plans(
    requested: Sequence[str], options: RunOptions, plugins: Plugins, new: bool = True, people: bool = False
) -> list[TaskPlan]:
    """Load the tasks and their data, and choose the docs. Raises TaskError, UnknownNameError, DataError.

    `new`: each doc is still to be checked; it was when a run with the same tasks and data began. `people`: people are
    asked, once and not at each of a model's temperatures.
    """
    tasks = [with_roles(task, options.resources) for task in TaskIndex(plugins).expand(list(requested))]
    tasks = [with_examples(for_people(task) if people else task, options.few_shot, plugins.registry) for task in tasks]
    if options.system is not None:
        check_system(tasks, plugins.registry, people)
    _check_names(tasks, options)
    plans = []
    for task in tasks:
        data_options = replace(
            DataOptions.from_environment(offline=options.offline),
            replacement=options.data.get(task.name) or options.data.get(task.qualified),
            seed=options.seed,
        )
        dataset = open_dataset(task.dataset, plugins.registry, data_options)
        plan = plan_task(with_own_grid(task, options, plugins.registry), dataset, options, plugins.registry)
        check_plan(plan, options, plugins.registry, docs=new)
        plans.append(plan)
    check_named_docs(plans, options)
    return plans


def _check_names(tasks: Sequence[Task], options: RunOptions) -> None:
    """Refuse a misspelt name in --data, --resource or --role, which would silently do nothing."""
    names = {name for task in tasks for name in (task.name, task.qualified)}
    for name in options.data:
        if name not in names:
            raise UnknownNameError("task", name, sorted(names), where="--data")
    resources = {name for task in tasks for name in task.resources}
    for name in options.resources:
        if name not in resources:
            raise UnknownNameError(
                "resource", name, sorted(resources), where="--resource", hint="No chosen task uses it."
            )

    roles = {role for task in tasks for role in (*task.roles, *task.role_models)}
    for name in (*options.roles, *options.role_options):
        if name == TARGET:
            raise UsageError("the target is not a role", where="--role", fix="Name it with --model.")
        if name not in roles:
            raise UnknownNameError("role", name, sorted(roles), where="--role", hint="No chosen task calls it.")


def _check_baseline(tasks: Sequence[Task], spec: str) -> None:
    provider, _, which = spec.partition("/")
    for task in tasks if provider == "baseline" else ():
        if which not in task.baselines:
            raise UsageError(
                f"the task {task.name!r} has no {which} baseline",
                where="--model",
                fix=f"Leave the task out, or name one in its YAML:  baselines: {{{which}: <component>}}",
            )


def _check_continuing(tasks: Sequence[Task], target: Model) -> None:
    """Refuse a model that would treat an assistant's message at the end as a finished turn."""
    wanting = next((task for task in tasks if "continues" in task.requires), None)
    if wanting is not None and not (target.traits.continues or target.traits.verbatim):
        raise UsageError(
            f"{target.spec} cannot continue a given text, which {wanting.name!r} needs",
            where="--model",
            fix="Take embedded/<model> or hosted_vllm/<model>, or leave the task out.",
        )


def _check_modalities(task: Task, role: str | None, model: Model) -> None:
    """Refuse a model that does not accept the media of a task's prompts (`role` None: those of the target)."""
    known = model.modalities
    missing = sorted(task.media_kinds(role) - known) if known is not None else []
    if missing:
        raise UsageError(
            f"{model.spec} takes no {missing[0]}, and the prompts of {task.name!r} hold some",
            where="--model" if role is None else f"--role {role}",
            fix="Use a model that does, or leave the task out.",
        )


def _check_likelihoods(tasks: Sequence[Task], target: Model, registry: Registry) -> None:
    """Refuse a model without log-likelihoods for a task that asks for them."""
    if target.gives_loglikelihoods:
        return
    for task in tasks:
        protocol = registry.get("protocol", task.protocol.name)
        if not protocol.protocol_traits(task.protocol.parameters).loglikelihood:
            continue
        if target.batched:
            raise UsageError(f"{task.name!r} requests log-likelihoods, which batches do not return", where="--batch")
        absent = absent_distribution("likelihoods", target.spec.partition("/")[0])
        giving = [c.name for c in registry.all() if c.kind == "provider" and c.gives_loglikelihoods]
        able = [f"{name}/" for name in sorted({*giving, *registry.names("likelihoods")})]
        raise UsageError(
            f"{target.spec} returns no log-likelihoods of given texts, which {task.name!r} asks for",
            where="--model",
            fix=f"pip install {absent}"
            if absent
            else f"Models of {', '.join(able)} can (docs/models.md says which), or leave the task out.",
        )


def open_resources(options: RunOptions, plugins: Plugins) -> OpenResources:
    """Return the resources of a run; each is opened on first use."""
    return OpenResources(plugins.registry, resource_options_of(options), options.allow_code_execution)


def open_setup(
    tasks: Sequence[Task],
    roles: Mapping[str, str],
    options: RunOptions,
    plugins: Plugins,
    common: Common | None = None,
    seat: Seat | None = None,
) -> Setup:
    """Open models and resources (each on first use).

    `common` are existing parts to use (None: all are new), `seat` is where a person answers (None: at the terminal).
    """
    task_contexts: dict[str, tuple[Task, TaskContext]] = {}
    common = common or Common(Budget(options.max_cost, options.max_calls))
    asking = replace(
        model_options(options, common.budget),
        limiters=common.limiters,
        find_baseline=_baseline_finder(task_contexts, plugins),
        seat=seat,
        run_tasks=RunTasks({task.name: task for task in tasks}, plugins.registry),
    )
    _check_roles(tasks, roles)
    batching = open_batching(plugins.registry, options.detach, options.batch_size) if options.batch else None
    models = RoleModels(roles, plugins.registry, asking, batching=batching)
    models.others = common.others
    models.own = options.role_options
    resources = common.resources or open_resources(options, plugins)
    ledger = common.ledger or Ledger(options.seed)
    contexts = {}
    for task in tasks:
        specs = chosen_resources(task.resources, options.resources)
        contexts[task.name] = TaskContext(task, options.seed, specs, resources, RoleAccess(models, ledger))
        task_contexts[task.name] = (task, contexts[task.name])
    return Setup(plugins, options, models, ledger, resources, contexts, tuple(tasks))


def _check_roles(tasks: Sequence[Task], roles: Mapping[str, str]) -> None:
    for task in tasks:
        for role in task.roles:
            if role not in roles and role not in task.role_models:
                raise UsageError(
                    f"the task {task.name!r} needs a model in the role {role!r}",
                    where="--role",
                    fix=f"Add: --role {role}=<provider>/<model>",
                )


def _baseline_finder(tasks: Mapping[str, tuple[Task, TaskContext]], plugins: Plugins) -> Any:
    """Return the function that finds the baseline of a task from the names of both."""

    def find(name: str, which: str) -> tuple[Baseline, Context]:
        task, context = tasks[name]
        ref = task.baselines[which]
        return plugins.registry.get("baseline", ref.name).load()(**ref.parameters), context

    return find
