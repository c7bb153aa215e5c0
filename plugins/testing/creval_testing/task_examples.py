"""Run the `tests:` of a task: gold answers and mutants through the real protocol, parsers and scorers."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from creval.plugin import Completion, Doc, Reply, SampleKey, ScoreRecord, TokenLogprob, UnknownNameError, counted
from creval.plugin.authoring import Dataset, RunOptions, Said, Task, open_dataset
from creval.plugin.checking import (
    TARGET,
    Budget,
    Common,
    Example,
    LimiterPool,
    Model,
    ModelParts,
    ModelSpec,
    OpenResources,
    RetryPolicy,
    Setup,
    SystemClock,
    WorkItem,
    make_sample,
    open_resources,
    open_setup,
    with_roles,
)
from creval.plugin.data import DataOptions
from creval.plugin.likelihoods import LoglikelihoodCall, certain
from creval.plugin.loading import Plugins
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderTraits

__all__ = ["ExampleOutcome", "run_examples"]


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """The outcome of one example: its score, and every difference from the task's expectation."""

    task: str
    example: str
    score: ScoreRecord
    faults: Sequence[str]


class _Script:
    """A provider with the answers of an example: to the questions that an entry matches, else in order."""

    traits = ProviderTraits(remote=False, cacheable=False, free=True)

    def __init__(self, role: str, said: Sequence[Sequence[Said]]) -> None:
        self._role = role
        self._fitting = [each for entry in said for each in entry if each.when is not None]
        self._coming = deque(entry for entry in said if entry[0].when is None)
        self._count = len(self._coming)

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the next answer. Raises FatalModelError if the example has no more."""
        question = request.messages[-1].text if request.messages else ""
        fitting = [each for each in self._fitting if each.when is not None and each.when in question]
        completions = fitting[:1] * request.n if fitting else self._next(request.n)
        return Reply(
            [
                Completion(each.text, each.finish_reason, logprobs=_tokens(each), tool_calls=tuple(each.tool_calls))
                for each in completions
            ]
        )

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Return the log-likelihoods in an entry, or certainty for the text that it names."""
        said = self._next(len(call.requests)) if len(self._coming[0] if self._coming else ()) > 1 else self._next(1)
        if len(said) < len(call.requests) or said[0].logprobs is None:
            return certain(call, said[0].text)
        return Reply([Completion(each.text, logprobs=_tokens(each)) for each in said])

    def _next(self, wanted: int) -> Sequence[Said]:
        """Return one entry, or one per completion if there are several."""
        found: list[Said] = []
        while self._coming and len(found) < wanted and (not found or len(self._coming[0]) == 1):
            found += self._coming.popleft()
        if len(found) < wanted:
            who = "" if self._role == TARGET else f" of the {self._role}"
            raise FatalModelError(f"the test has {counted(self._count, 'answers')}{who}, and one more is asked for")
        return found[:wanted]

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _tokens(said: Said) -> tuple[TokenLogprob, ...] | None:
    if said.logprobs is None:
        return None
    return tuple(
        TokenLogprob(token, float(value), tuple((str(name), float(at)) for name, at in (rest[0] if rest else ())))
        for token, value, *rest in said.logprobs
    )


def _scripted(role: str, said: Sequence[Sequence[Said]]) -> Model:
    limiter = LimiterPool().get("test", None, 1)
    script = _Script(role, said)
    parts = ModelParts(script, script.traits, limiter, Budget(), RetryPolicy(0, 1.0, 1.0, 1.0), SystemClock())
    return Model(ModelSpec.parse(f"test/{role}"), parts)


class _Shared(NamedTuple):
    """Shared state of all examples of a task."""

    options: RunOptions
    plugins: Plugins
    resources: OpenResources
    gold_docs: int


GOLD_DOCS = 5
"""Number of docs, evenly spread over the data, for which the gold answer of a baseline is played."""


async def run_examples(
    task: Task, options: RunOptions, plugins: Plugins, gold_docs: int = GOLD_DOCS, dataset: Dataset | None = None
) -> list[ExampleOutcome]:
    """Run every example of a task. `options.resources` may name other resources.

    The ceiling is right for every doc: its example, if it names no doc, is played for `gold_docs` docs, and the outcome
    is that of the first doc without the expected one.
    `dataset` is the task's data if it is already open.
    Roles other than the target follow the example's script; a real model is called only if `options.roles` names it.
    Raises the errors of opening data and resources; a failed example does not raise, see `faults`.
    """
    data_options = replace(DataOptions.from_environment(offline=options.offline), seed=options.seed)
    task = with_roles(task, options.resources)
    if dataset is None:
        dataset = open_dataset(task.dataset, plugins.registry, data_options)
    resources = open_resources(options, plugins)  # opened once: an embedding takes longer to load than to use
    shared = _Shared(options, plugins, resources, gold_docs)
    try:
        return [await _outcome_of(task, example, dataset, shared) for example in task.examples]
    finally:
        resources.close()


async def _outcome_of(task: Task, example: Example, dataset: Dataset, run: _Shared) -> ExampleOutcome:
    """Return the outcome of an example: for a gold one, that of its worst doc."""
    outcome = await _outcome(task, example, _doc(example, dataset), run)
    if outcome.faults or example.baseline != "ceiling" or example.doc is not None:
        return outcome
    last, steps = len(dataset) - 1, run.gold_docs - 1
    for place in sorted({number * last // steps for number in range(1, steps + 1)} - {0}):
        other = await _outcome(task, example, dataset[place], run)
        if other.faults:
            which = f"of the doc {dataset[place].id!r}, where the example names no `doc`"
            return replace(other, faults=[f"{which}: {fault}" for fault in other.faults])
    return outcome


async def _outcome(task: Task, example: Example, doc: Doc, run: _Shared) -> ExampleOutcome:
    options = run.options
    spec = f"baseline/{example.baseline}" if example.baseline else "replay/none"
    unnamed = {role: f"replay/{role}" for role in task.roles if role not in options.roles}
    common = Common(Budget(options.max_cost, options.max_calls), resources=run.resources)
    setup = open_setup([task], {TARGET: spec, **unnamed, **options.roles}, options, run.plugins, common)
    for role in unnamed:
        setup.models.stand_in(role, _scripted(role, [[said] for said in example.roles.get(role, ())]))
    if example.baseline is None:
        setup.models.stand_in(TARGET, _scripted(TARGET, example.answers))
    setup.open_resources(task, spec)
    score = await _score(task, example, doc, setup)
    return ExampleOutcome(task.name, example.name, score, _faults(example, score))


async def _score(task: Task, example: Example, doc: Doc, setup: Setup) -> ScoreRecord:
    runtime = setup.runtime(task)
    condition = next((each for each in task.conditions if each.name == example.condition), task.conditions[0])
    work = WorkItem(SampleKey(task.name, doc.id, condition.name, 0), doc, condition, 0)
    sample = (await make_sample(runtime, work)).sample
    return (await setup.scoring(task).score([sample]))[0]


def _doc(example: Example, dataset: Dataset) -> Doc:
    if example.doc is None:
        return dataset[0]
    if isinstance(example.doc, str):
        place = dataset.find(example.doc)
        if place is not None:
            return dataset[place]
        known = dataset.ids[:1000]
        raise UnknownNameError("doc", example.doc, known, where=f"test {example.name}")
    return Doc(f"test-{example.name}", example.doc)


def _faults(example: Example, score: ScoreRecord) -> list[str]:
    faults = []
    if score.status is not example.status:
        faults.append(
            f"ended as {score.status.value} instead of {example.status.value} ({score.reason or 'no reason'})"
        )
    for name, bounds in example.scores.items():
        value = score.scores.get(name)
        if value is None:
            faults.append(f"has no score {name!r}")
        elif not bounds.low <= value <= bounds.high:
            faults.append(f"{name} is {value:g}, not between {bounds.low:g} and {bounds.high:g}")
    return faults
