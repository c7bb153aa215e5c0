"""Runs the `tests:` of a task: gold answers and mutants through the real protocol, parsers and scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from creval.data.dataset import Dataset
from creval.data.opening import open_dataset
from creval.data.options import DataOptions
from creval.engine.generation.sampling import make_sample
from creval.engine.models import TARGET, RoleModels
from creval.engine.options import RunOptions
from creval.engine.planning.plan import Work
from creval.engine.setup import Setup, open_setup
from creval.errors import FatalModelError, UnknownNameError
from creval.models.budget import Budget
from creval.models.clock import SystemClock
from creval.models.limiter import LimiterPool
from creval.models.model import Model, Parts
from creval.models.retries import RetryPolicy
from creval.models.spec import ModelSpec
from creval.models.traits import ProviderTraits
from creval.plugins.loader import Plugins
from creval.tasks.model import Example, Task
from creval.types.messages import Completion, GenerateRequest, Reply
from creval.types.sample import Doc, SampleKey, SampleScore

__all__ = ["ExampleOutcome", "run_examples"]


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """What came of one example: its score, and every way in which that differs from what the task states."""

    task: str
    example: str
    score: SampleScore
    faults: Sequence[str]


class _Script:
    """A provider that says the example's answers, one a call."""

    traits = ProviderTraits(remote=False, cacheable=False, free=True)

    def __init__(self, example: Example) -> None:
        self._example = example

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the next answer. Raises FatalModelError where the example has no further one."""
        answers = self._example.answers
        start = request.origin.call
        if start >= len(answers):
            raise FatalModelError(f"the test has {len(answers)} answers, and the protocol asks for one more")
        texts = answers[start : start + request.n]
        return Reply([Completion(text, self._example.finish_reason) for text in texts])

    async def close(self) -> None:
        """Nothing is held open."""


class _ScriptedModels(RoleModels):
    """The setup's models with the target replaced by a script."""

    def __init__(self, others: RoleModels, example: Example) -> None:
        self._others = others
        limiter = LimiterPool().get("test", None, 1)
        parts = Parts(_Script(example), _Script.traits, limiter, Budget(), RetryPolicy(0, 1.0, 1.0, 1.0), SystemClock())
        self._target = Model(ModelSpec.parse("test/answers"), parts)

    def get(self, role: str, default: str | None = None) -> Model:
        return self._target if role == TARGET else self._others.get(role, default)


async def run_examples(task: Task, options: RunOptions, plugins: Plugins) -> list[ExampleOutcome]:
    """Run every example of a task. `options.resources` may name other instruments, `options.roles` judges.

    Raises what opening the data and resources raises; a failed example raises nothing, see `faults`.
    """
    data_options = replace(DataOptions.from_environment(offline=options.offline), seed=options.seed)
    dataset = open_dataset(task.dataset, plugins.registry, data_options)
    outcomes = []
    for example in task.examples:
        spec = f"baseline/{example.player}" if example.player else "replay/none"
        setup = open_setup([task], {TARGET: spec, **options.roles}, options, plugins)
        try:
            score = await _score(task, example, dataset, setup)
        finally:
            setup.resources.close()
        outcomes.append(ExampleOutcome(task.name, example.name, score, _faults(example, score)))
    return outcomes


async def _score(task: Task, example: Example, dataset: Dataset, setup: Setup) -> SampleScore:
    runtime = setup.runtime(task)
    if example.player is None:
        runtime = replace(runtime, models=_ScriptedModels(setup.models, example))
    doc = _doc(example, dataset)
    condition = task.conditions[0]
    work = Work(SampleKey(task.name, doc.id, condition.name, 0), doc, condition, 0)
    sample = (await make_sample(runtime, work)).sample
    return (await setup.scoring(task).score([sample]))[0]


def _doc(example: Example, dataset: Dataset) -> Doc:
    if example.doc is None:
        return dataset[0]
    if isinstance(example.doc, str):
        for index in range(len(dataset)):
            doc = dataset[index]
            if doc.id == example.doc:
                return doc
        known = [dataset[index].id for index in range(min(len(dataset), 1000))]
        raise UnknownNameError("doc", example.doc, known, where=f"test {example.name}")
    return Doc(f"test-{example.name}", example.doc)


def _faults(example: Example, score: SampleScore) -> list[str]:
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
