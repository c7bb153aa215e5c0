"""What a run would take: calls, tokens and price from a sample of its prompts, and what is missing for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from creval.engine.expecting.figures import (
    BYTES_A_TOKEN,
    FREE,
    NOTHING,
    Figures,
    RoleCalls,
    answer_limit,
    answers_of,
    price_of_calls,
    settings_of,
)
from creval.engine.generation.session import LiveSession, TaskRuntime
from creval.engine.options import RunOptions
from creval.engine.planning.plan import TaskPlan
from creval.engine.roles.context import OpenResources, resource_options_of
from creval.engine.roles.models import TARGET
from creval.engine.setup import Setup, open_plans, open_setup
from creval.errors import CrevalError, MissingPartError, UsageError
from creval.models.model_options import ModelOptions
from creval.models.open_model import listed_price
from creval.models.prices import Price
from creval.plugins.loader import load_plugins
from creval.types.execution import Work
from creval.types.messages import Message
from creval.types.sample import SampleKey

__all__ = ["Figures", "RunEstimate", "TaskEstimate", "estimate_run"]

LOOKED_AT = 50
_BATCH_NOTE = "Prices are those of batches, by litellm's table; where it has none, half the price at openai and azure."


class TaskEstimate(NamedTuple):
    """A row of a task, or of another role in it: samples, calls, tokens, and the price in US dollars."""

    task: str
    samples: int
    calls: Figures
    input_tokens: Figures
    output_tokens: Figures
    price: Figures
    of_role: bool = False


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The rows, what is missing so that a run would not start, and what else to know."""

    tasks: Sequence[TaskEstimate]
    missing: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def total(self) -> TaskEstimate:
        """The sum over the tasks."""
        columns = zip(*((row.calls, row.input_tokens, row.output_tokens, row.price) for row in self.tasks), strict=True)
        calls, into, out, price = (sum(column, start=NOTHING) for column in columns)
        samples = sum(row.samples for row in self.tasks if not row.of_role)
        return TaskEstimate("total", samples, calls, into, out, price)


def estimate_run(tasks: Sequence[str], model: str, options: RunOptions) -> RunEstimate:
    """Estimate every task of a run, without a call and without the network.

    Lower figures: the fewest calls that the protocol expects, each with the first prompt alone and an answer of one
    token. Upper ones: the most calls, each with all prompts, the answers before it and an answer up to the limit.
    Raises UsageError where no task or model is named, and as a run does for wrong names.
    """
    if not tasks or not model:
        raise UsageError("a dry run needs --tasks and --model", cure="Add the one that is missing.")
    plugins = load_plugins()
    plans = open_plans(list(tasks), options, plugins)
    setup = open_setup([plan.task for plan in plans], {TARGET: model, **options.roles}, options, plugins)
    look = _Look(setup, options)
    price = look.price(model)
    rows = []
    for plan in plans:
        runtime = setup.runtime(plan.task)
        rows.append(_estimate(plan, runtime, (price, look.honours_n)))
        rows += look.roles(plan, runtime)
    look.parts(model)
    if options.batch:
        look.notes.append(_BATCH_NOTE)
    return RunEstimate(rows, list(dict.fromkeys(look.missing)), list(dict.fromkeys(look.notes)))


class _Look:
    """Looks for what a run needs, and collects what is not here."""

    def __init__(self, setup: Setup, options: RunOptions) -> None:
        self._setup = setup
        self._options = options
        folder = replace(resource_options_of(options), offline=True)
        # a dry run fetches nothing; opening a sandbox runs programs of creval's own alone
        self._resources = OpenResources(setup.plugins.registry, folder, allow_code_execution=True)
        self.missing: list[str] = []
        self.notes: list[str] = []
        self.honours_n = True

    def price(self, model: str) -> Price | None:
        """Return the price of the target; where its key is missing, which an estimate does not need, the table's."""
        try:
            target = self._setup.models.get(TARGET)
        except MissingPartError as error:
            self.missing.append(str(error))
            options = ModelOptions(base_url=self._options.base_url, offline=self._options.offline)
            return listed_price(model, self._setup.plugins.registry, options, self._options.batch)
        self.honours_n = target.traits.honours_n
        return FREE if target.traits.free else target.price

    def roles(self, plan: TaskPlan, runtime: TaskRuntime) -> Iterator[TaskEstimate]:
        """Yield a row for each other role whose calls the components of a task state; the rest is noted."""
        task = plan.task
        asking: list[Any] = [runtime.protocol]
        self._try(lambda: asking.extend(part.scorer for part in self._setup.scoring(task).scorers))
        roles = RoleCalls(runtime, asking)
        for role in task.roles:
            found = [each for work in _works(plan) if (each := roles.of_sample(role, work)) is not None]
            if not found:
                self.notes.append(f"The calls of the {role} come on top; they are not in these figures.")
                continue
            share = plan.total / len(found) if found else 0.0
            calls, into, out = (sum((each[i] for each in found), start=NOTHING).times(share) for i in range(3))
            price = self._role_price(role, task.role_models.get(role))
            costs = price_of_calls(into, out, calls, price)
            yield TaskEstimate(f"{task.name}: {role}", plan.total, calls, into, out, costs, True)

    def _role_price(self, role: str, own: str | None) -> Price | None:
        try:
            model = self._setup.models.get(role, own)
        except MissingPartError:  # `parts` says so
            options = ModelOptions(offline=self._options.offline)
            spec = self._options.roles.get(role) or own or ""
            return listed_price(spec, self._setup.plugins.registry, options, self._options.batch)
        return FREE if model.traits.free else model.price

    def parts(self, target: str) -> None:
        """Look for the models of other roles, and for the resources that the tasks' components use."""
        for task in self._setup.tasks:
            for role in task.roles:
                self._try(lambda role=role, task=task: self._setup.models.get(role, task.role_models.get(role)))
            self._try(lambda task=task: self._setup.scoring(task))
            for name in self._setup.uses(task, target):
                self._try(lambda name=name, task=task: self._open(name, self._setup.contexts[task.name].specs[name]))

    def _open(self, name: str, spec: str) -> None:
        getattr(self._resources.get(name, spec), "name", None)

    def _try(self, look: Any) -> None:
        try:
            look()
        except MissingPartError as error:
            if error.fetched and not self._options.offline:
                self.notes.append(f"{error.where or error.what}: fetched by the first run that uses it.")
            else:
                self.missing.append(str(error))


def _estimate(plan: TaskPlan, runtime: TaskRuntime, target: tuple[Price | None, bool]) -> TaskEstimate:
    price, honours_n = target
    found = [_of_sample(runtime, work, price, honours_n) for work in _works(plan)]
    share = plan.total / len(found) if found else 0.0
    calls, into, out, costs = (sum((each[i] for each in found), start=NOTHING).times(share) for i in range(4))
    costs = Figures(None, None) if price is None else costs
    return TaskEstimate(plan.task.name, plan.total, calls, into, out, costs)


def _works(plan: TaskPlan) -> Iterator[Work]:
    """Yield one sample each of docs evenly spread over those chosen, under every condition (the first of very many)."""
    chosen = range(len(plan.dataset)) if plan.indices is None else plan.indices
    conditions = list(itertools.islice(plan.task.conditions, LOOKED_AT))
    wanted = max(1, LOOKED_AT // max(1, len(conditions)))
    for index in chosen[:: max(1, -(-len(chosen) // wanted))]:
        doc = plan.dataset[index]
        for condition in conditions:
            yield Work(SampleKey(plan.task.name, doc.id, condition.name, 0), doc, condition, 0)


def _of_sample(
    runtime: TaskRuntime, work: Work, price: Price | None, honours_n: bool
) -> tuple[Figures, Figures, Figures, Figures]:
    """Return calls, input tokens, output tokens and price of one sample.

    A provider that gives one completion a call is called once for each.
    """
    prompts = _prompts(runtime, work)
    first, every = _size(prompts[:1]) // BYTES_A_TOKEN[0] + 1, _size(prompts) // BYTES_A_TOKEN[1] + 1
    fewest, most = _calls(runtime, work)
    settings = settings_of(runtime, work)
    answers = answers_of(runtime, settings)
    if not honours_n:
        fewest, most, answers = fewest * answers, most * answers, 1
    limit = answer_limit(settings)
    longest = None if limit is None else limit * answers
    asked = None if longest is None and most > 1 else most * every + (longest or 0) * most * (most - 1) // 2
    tokens_in = Figures(fewest * first, asked)
    tokens_out = Figures(fewest * answers, None if longest is None else longest * most)
    return (
        Figures(fewest, most),
        tokens_in,
        tokens_out,
        price_of_calls(tokens_in, tokens_out, Figures(fewest, most), price),
    )


def _calls(runtime: TaskRuntime, work: Work) -> tuple[int, int]:
    expected = getattr(runtime.protocol, "expected_calls", None)
    fewest, most = expected(work.doc.fields) if callable(expected) else (1, 1)
    return max(1, int(fewest)), max(1, int(fewest), int(most))


def _prompts(runtime: TaskRuntime, work: Work) -> list[list[Message]]:
    """Return the prompts of a doc; one of a protocol's later turns may need what earlier ones gave, and is left out."""
    session = LiveSession(runtime, work)
    found = []
    for name in runtime.task.prompts:
        try:
            found.append(session.prompt(name))
        except CrevalError:
            continue
    return found


def _size(prompts: Sequence[Sequence[Message]]) -> int:
    return sum(len(message.content.encode("utf-8", "replace")) for messages in prompts for message in messages)
