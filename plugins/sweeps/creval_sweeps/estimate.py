"""Estimate of a run: calls, tokens and price from a sample of its prompts, and missing parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from creval.plugin import (
    CrevalError,
    DataError,
    Expected,
    Message,
    MissingPartError,
    SampleKey,
    UnknownNameError,
    Usage,
    UsageError,
)
from creval.plugin.sweeps import (
    CALLS_A_PAIR,
    PROMPT_BYTES,
    TARGET,
    LiveSession,
    ModelOptions,
    OpenResources,
    Price,
    RunOptions,
    Setup,
    Task,
    TaskPlan,
    TaskRuntime,
    WorkItem,
    listed_price,
    load_plugins,
    open_executor,
    open_plans,
    open_setup,
    resource_options_of,
    role_behind,
    with_shared,
    with_system,
)

__all__ = ["EstimateRange", "RunEstimate", "TaskEstimate", "estimate_run", "sum_of"]

BYTES_A_TOKEN = (5, 3)
"""UTF-8 bytes of a long and of a short token."""

FREE = Price("free", 0.0, 0.0)


class EstimateRange(NamedTuple):
    """A lower and an upper bound. `high` None: not known, as no limit is set; both None: nothing is known."""

    low: float | None
    high: float | None

    def __add__(self, other: object) -> EstimateRange:
        if not isinstance(other, EstimateRange):
            return NotImplemented
        sums = [None if a is None or b is None else a + b for a, b in zip(self, other, strict=True)]
        return EstimateRange(*sums)

    def times(self, factor: float) -> EstimateRange:
        """Return both bounds times a number."""
        return EstimateRange(*(None if figure is None else figure * factor for figure in self))


NOTHING = EstimateRange(0, 0)
UNKNOWN = EstimateRange(0, None)


def price_of_calls(into: EstimateRange, out: EstimateRange, calls: EstimateRange, price: Price | None) -> EstimateRange:
    """Price the mean call of each bound: a table may charge long calls at another rate."""
    if price is None:
        return EstimateRange(None, None)
    if price is FREE:
        return NOTHING
    costs = [
        None if a is None or b is None or n is None else price.cost(Usage(round(a / n), round(b / n))) * n if n else 0.0
        for a, b, n in zip(into, out, calls, strict=True)
    ]
    return EstimateRange(*costs)


def settings_of(runtime: TaskRuntime, work: WorkItem) -> dict[str, Any]:
    """Return the generation settings of the target's calls for a sample."""
    cell = {name: value for name, value in work.condition.settings.items() if name in runtime.condition_names}
    return {**runtime.generation, **cell, **runtime.overrides}


def answer_limit(settings: Mapping[str, Any]) -> int | None:
    """Return the most tokens of an answer, None if no limit is set."""
    limit = settings.get("max_completion_tokens") or settings.get("max_tokens")
    return None if limit is None else int(limit)


def answers_of(runtime: TaskRuntime, settings: Mapping[str, Any]) -> int:
    """Return how many answers one call of the target returns."""
    return int(settings.get("n") or runtime.answers)


class RoleCalls:
    """The expected calls of a task's components to other roles: directly, and through a resource that
    asks a role (`entailment=role/judge`).
    """

    def __init__(self, runtime: TaskRuntime, asking: Sequence[Any]) -> None:
        self._runtime = runtime
        self._own = [each for each in asking if callable(getattr(each, "expected_role_calls", None))]
        self._pairs = [each for each in asking if callable(getattr(each, "expected_pairs", None))]

    def of_sample(self, role: str, work: WorkItem) -> tuple[EstimateRange, EstimateRange, EstimateRange] | None:
        """Return calls, input tokens and output tokens of a role for one sample, None if nothing is stated.

        Its prompts contain the target's answer: at most the doc and an answer of the full length more than the
        template.
        """
        parts = [part for part in (self._prompted(role, work), self._judged(role, work)) if part is not None]
        if not parts:
            return None
        calls, into, out = (sum((part[i] for part in parts), start=NOTHING) for i in range(3))
        return calls, into, out

    def _prompted(self, role: str, work: WorkItem) -> tuple[EstimateRange, EstimateRange, EstimateRange] | None:
        """Estimate the calls with prompts of the task."""
        doc = work.doc.fields
        calls = _sum([each.expected_role_calls(doc, self._expected(work)).get(role) for each in self._own])
        if calls is None:
            return None
        task = self._runtime.task
        shared = [messages for name, messages in task.prompts.items() if name != "prompt"]  # a jury's
        prompts = task.role_prompts.get(role, {}).values() or shared
        sizes = [sum(len(each.template.encode("utf-8", "replace")) for each in messages) for messages in prompts] or [0]
        more = len(str(dict(doc)).encode("utf-8", "replace"))
        return self._of_calls(role, work, calls, (min(sizes), max(sizes) + more, 1))

    def _judged(self, role: str, work: WorkItem) -> tuple[EstimateRange, EstimateRange, EstimateRange] | None:
        """Estimate the calls with pairs of texts."""
        said = [each.expected_pairs(work.doc.fields, self._expected(work)) for each in self._pairs]
        pairs = _sum([each.get(name) for each in said for name in self._behind(role)])
        if pairs is None:
            return None
        fewest, most = CALLS_A_PAIR
        calls = EstimateRange((pairs.low or 0) * fewest, None if pairs.high is None else pairs.high * most)
        return self._of_calls(role, work, calls, (PROMPT_BYTES, PROMPT_BYTES, 2))

    def _of_calls(
        self, role: str, work: WorkItem, calls: EstimateRange, size: tuple[int, int, int]
    ) -> tuple[EstimateRange, EstimateRange, EstimateRange]:
        """Return calls and tokens; `size` are the bytes of the shortest and longest prompt, and its answers."""
        shortest, longest, answers = size
        answer = answer_limit(settings_of(self._runtime, work))
        limit = answer_limit(self._runtime.task.role_settings.get(role, {}))
        most = None if answer is None else longest // BYTES_A_TOKEN[1] + 1 + answers * answer
        fewest = calls.low or 0
        return (
            calls,
            EstimateRange(fewest * (shortest // BYTES_A_TOKEN[0] + 1), _product(calls.high, most)),
            EstimateRange(fewest, _product(calls.high, limit)),
        )

    def _behind(self, role: str) -> list[str]:
        """Return the resources of the task that ask this role."""
        return [name for name, spec in self._runtime.context.specs.items() if role_behind(spec) == role]

    def _expected(self, work: WorkItem) -> Expected:
        return Expected(self._runtime.protocol, answers_of(self._runtime, settings_of(self._runtime, work)))


def _sum(ranges: Sequence[tuple[int, int | None] | None]) -> EstimateRange | None:
    """Return the sum of the stated ranges, None if there are none; one unknown bound makes the sum unknown."""
    stated = [EstimateRange(*each) for each in ranges if each is not None]
    return sum(stated, start=NOTHING) if stated else None


def _product(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other


LOOKED_AT = 50
_BATCH_NOTE = "Prices are those of batches, by litellm's table; if it has none, half the price at openai and azure."


class TaskEstimate(NamedTuple):
    """A row of a task, or of another role in it: samples, calls, tokens, and the price in US dollars."""

    task: str
    samples: int
    calls: EstimateRange
    input_tokens: EstimateRange
    output_tokens: EstimateRange
    price: EstimateRange
    of_role: bool = False


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The rows, the missing parts that would prevent a run, and notes."""

    tasks: Sequence[TaskEstimate]
    missing: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def total(self) -> TaskEstimate:
        """Return the sum over the tasks."""
        return sum_of(self.tasks)


def estimate_run(tasks: Sequence[str], model: str, options: RunOptions) -> RunEstimate:
    """Estimate every task of a run, without a call and without the network.

    Lower bounds: the fewest calls that the protocol expects, each with only the first prompt and an answer of one
    token. Upper bounds: the most calls, each with all prompts, the answers before it and an answer up to the limit.
    Raises UsageError if no task or model is named, and as a run does for wrong names.
    """
    if not tasks or not model:
        raise UsageError("a dry run needs --tasks and --model", fix="Add the one that is missing.")
    plugins = load_plugins()
    plans = with_shared(open_plans(list(tasks), options, plugins), model, plugins.registry)
    setup = open_setup([plan.task for plan in plans], {TARGET: model, **options.roles}, options, plugins)
    look = _Look(setup, options)
    price = look.price(model)
    rows = []
    for plan in plans:
        runtime = setup.runtime(plan.task)
        if plan.shares is None:
            rows.append(_estimate(plan, runtime, (price, look.honours_n)))
        else:
            look.notes.append(f"{plan.task.name} asks what {plan.shares} asks: the model is asked once.")
        look.note_media(plan.task, price)
        rows += look.roles(plan, runtime)
    look.parts(model)
    look.executor()
    if options.batch:
        look.notes.append(_BATCH_NOTE)
    missing = [f"{', '.join(places)}: {words}" if any(places) else words for words, places in look.missing.items()]
    return RunEstimate(rows, missing, list(dict.fromkeys(look.notes)))


def sum_of(rows: Sequence[TaskEstimate]) -> TaskEstimate:
    """Return the row of the total."""
    columns = zip(*((row.calls, row.input_tokens, row.output_tokens, row.price) for row in rows), strict=True)
    calls, into, out, price = (sum(column, start=NOTHING) for column in columns)
    samples = sum(row.samples for row in rows if not row.of_role)
    return TaskEstimate("total", samples, calls, into, out, price)


class _Look:
    """Looks for the parts that a run needs, and collects missing ones."""

    def __init__(self, setup: Setup, options: RunOptions) -> None:
        self._setup = setup
        self._options = options
        folder = replace(resource_options_of(options), offline=True)
        # a dry run fetches nothing; opening a sandbox runs only creval's own programs
        self._resources = OpenResources(setup.plugins.registry, folder, allow_code_execution=True)
        self.missing: dict[str, dict[str, None]] = {}
        """Return the errors that prevent a run, each with the affected parts of tasks."""
        self.notes: list[str] = []
        self.honours_n = True

    def price(self, model: str) -> Price | None:
        """Return the price of the target, from the table if its key, which an estimate does not need, is missing."""
        try:
            target = self._setup.models.get(TARGET)
            target.check()
        except UnknownNameError:
            raise
        except (UsageError, DataError) as error:
            names = [task.name for task in self._setup.tasks]
            more = f" and {len(names) - 3} more" if names[3:] else ""
            self._lacks(f"{TARGET} of {', '.join(names[:3])}{more}", error)
            options = ModelOptions(base_url=self._options.base_url, offline=self._options.offline)
            return listed_price(model, self._setup.plugins.registry, options, self._options.batch)
        self.honours_n = target.traits.honours_n
        return FREE if target.traits.free else target.price

    def note_media(self, task: Task, price: Price | None) -> None:
        """Note which media the price of a task leaves out."""
        kinds = task.media_kinds() - ({"image"} if price is not None and price.images is not None else set())
        if kinds and price is not None and price is not FREE:
            words = " and ".join({"image": "images", "file": "files"}.get(kind, kind) for kind in sorted(kinds))
            self.notes.append(f"{task.name}: the price excludes its {words}, of which the table has no price.")

    def roles(self, plan: TaskPlan, runtime: TaskRuntime) -> Iterator[TaskEstimate]:
        """Yield a row for each other role whose calls the components of a task state; other roles are noted."""
        task = plan.task
        asking: list[Any] = [runtime.protocol]
        self._try("", lambda: asking.extend(part.scorer for part in self._setup.scoring(task).scorers))
        roles = RoleCalls(runtime, asking)
        for role in task.roles:
            found = [each for work in _works(plan) if (each := roles.of_sample(role, work)) is not None]
            price = self._role_price(role, task.role_models.get(role))
            if not found:
                self.notes.append(f"The calls of the {role} are additional: they are not in these figures.")
                costs = NOTHING if price is FREE else UNKNOWN
                yield TaskEstimate(f"{task.name}: {role}", plan.total, UNKNOWN, UNKNOWN, UNKNOWN, costs, True)
                continue
            share = plan.total / len(found)
            calls, into, out = (sum((each[i] for each in found), start=NOTHING).times(share) for i in range(3))
            costs = price_of_calls(into, out, calls, price)
            yield TaskEstimate(f"{task.name}: {role}", plan.total, calls, into, out, costs, True)

    def _role_price(self, role: str, own: str | None) -> Price | None:
        try:
            model = self._setup.models.get(role, own)
        except UsageError:  # `parts` reports it
            address = self._options.role_options.get(role, {}).get("base_url")
            options = ModelOptions(base_url=address, offline=self._options.offline)
            spec = self._options.roles.get(role) or own or ""
            try:
                return listed_price(spec, self._setup.plugins.registry, options, self._options.batch)
            except UsageError:
                return None
        return FREE if model.traits.free else model.price

    def parts(self, target: str) -> None:
        """Look for the models of other roles, and for the resources that the tasks' components use."""
        for task in self._setup.tasks:
            context = self._setup.contexts[task.name]
            for role in task.roles:
                self._try(f"{role} of {task.name}", partial(self._check_role, role, task.role_models.get(role)))
            self._try(task.name, partial(self._setup.scoring, task))
            for name in self._setup.uses(task, target):
                place = f"{name} of {task.name}"
                self._try(place, partial(context.check_consent, [name]))
                self._try(place, partial(self._open, name, context.specs[name]))
        if not self.missing:
            self._try("", partial(self._setup.check_target, target))

    def executor(self) -> None:
        """Look for the executor; nothing is started."""
        options = self._options
        self._try("", partial(open_executor, options.executor, options.executor_options, self._setup.plugins.registry))

    def _check_role(self, role: str, own: str | None) -> None:
        with self._setup.models.explained(role, own):
            self._setup.models.get(role, own).check()

    def _open(self, name: str, spec: str) -> None:
        getattr(self._resources.get(name, spec), "name", None)

    def _try(self, place: str, look: Callable[[], object]) -> None:
        try:
            look()
        except (UsageError, DataError) as error:
            if isinstance(error, MissingPartError) and error.fetched and not self._options.offline:
                self.notes.append(f"{error.where or error.what}: fetched by the first run that uses it.")
            else:
                self._lacks(place, error)

    def _lacks(self, place: str, error: CrevalError) -> None:
        self.missing.setdefault(str(error), {})[place] = None


def _estimate(plan: TaskPlan, runtime: TaskRuntime, target: tuple[Price | None, bool]) -> TaskEstimate:
    price, honours_n = target
    found = [_of_sample(runtime, work, price, honours_n) for work in _works(plan)]
    share = plan.total / len(found) if found else 0.0
    calls, into, out, costs = (sum((each[i] for each in found), start=NOTHING).times(share) for i in range(4))
    costs = EstimateRange(None, None) if price is None else costs
    return TaskEstimate(plan.task.name, plan.total, calls, into, out, costs)


def _works(plan: TaskPlan) -> Iterator[WorkItem]:
    """Yield one sample each of docs evenly spread over those chosen, under every condition (the first of very many)."""
    chosen = range(len(plan.dataset)) if plan.indices is None else plan.indices
    conditions = list(itertools.islice(plan.task.conditions, LOOKED_AT))
    wanted = max(1, LOOKED_AT // max(1, len(conditions)))
    for index in chosen[:: max(1, -(-len(chosen) // wanted))]:
        doc = plan.dataset[index]
        for condition in conditions:
            yield WorkItem(SampleKey(plan.task.name, doc.id, condition.name, 0), doc, condition, 0)


def _of_sample(
    runtime: TaskRuntime, work: WorkItem, price: Price | None, honours_n: bool
) -> tuple[EstimateRange, EstimateRange, EstimateRange, EstimateRange]:
    """Return calls, input tokens, output tokens and price of one sample.

    A provider with one completion per call is called once for each.
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
    tokens_in = EstimateRange(fewest * first, asked)
    tokens_out = EstimateRange(fewest * answers, None if longest is None else longest * most)
    costs = price_of_calls(tokens_in, tokens_out, EstimateRange(fewest, most), price)
    if price is not None and price.images is not None:
        counts = [[part.kind for m in messages for part in m.media].count("image") for messages in prompts] or [0]
        cheapest, dearest = price.images
        costs += EstimateRange(fewest * counts[0] * cheapest, most * max(counts) * dearest)
    return EstimateRange(fewest, most), tokens_in, tokens_out, costs


def _calls(runtime: TaskRuntime, work: WorkItem) -> tuple[int, int]:
    expected = getattr(runtime.protocol, "expected_calls", None)
    fewest, most = expected(work.doc.fields) if callable(expected) else (1, 1)
    return max(1, int(fewest)), max(1, int(fewest), int(most))


def _prompts(runtime: TaskRuntime, work: WorkItem) -> list[list[Message]]:
    """Return the prompts of a doc; prompts of later turns may need earlier answers, and are left out."""
    session = LiveSession(runtime, work)
    found = []
    for name in runtime.task.prompts:
        try:
            found.append([*with_system(session.prompt(name), runtime.system)])
        except CrevalError:
            continue
    return found


def _size(prompts: Sequence[Sequence[Message]]) -> int:
    return sum(len(message.text.encode("utf-8", "replace")) for messages in prompts for message in messages)
