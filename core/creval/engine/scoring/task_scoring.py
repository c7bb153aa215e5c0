"""Scores samples of a task: parses saved answers and passes them to the scorers, without asking the target.

`make_scoring` creates parsers and scorers, `TaskScoring` scores samples, `batches` and `doc_batches` cut streams.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from creval.data.dataset import Dataset
from creval.engine.event_loop import is_cancelled
from creval.engine.roles.context import TaskContext
from creval.errors import BudgetError, CrevalError, InterfaceError, RunError, UsageError
from creval.format import counted
from creval.models.secrets import redact
from creval.parsing.chain import ParserChain, build_chain, step_that_raised
from creval.plugins.component_code import fault_of
from creval.plugins.registry import ANY_SCORE, Registry
from creval.plugins.traits import ScorerTraits
from creval.runs.text_references import with_doc, with_media
from creval.tasks.task_model import ComponentRef, ScorerRef, Task
from creval.types.code_location import line_of, source_of
from creval.types.components import Parsed, Score, Scorer, ScorerInput
from creval.types.sample import ComponentFault, Condition, MissingScore, Sample, ScoreRecord, Status

__all__ = ["BATCH", "PendingScore", "ScorerPart", "TaskScoring", "batches", "doc_batches", "make_scoring"]

BATCH = 256


@dataclass(frozen=True, slots=True)
class ScorerPart:
    """One scorer of a task: its name and the names of its scores, which are missing if it fails.

    `closed`: a score with another name is an error. `ref` holds the task's names for its scores and the reading of the
    answers that it scores.
    """

    name: str
    scorer: Scorer
    traits: ScorerTraits
    gives: Sequence[str] = ()
    closed: bool = False
    ref: ScorerRef = field(default_factory=lambda: ScorerRef(""))

    @property
    def waits(self) -> bool:
        """Whether it asks other models (a judge), so that several of its calls run at once."""
        return self.traits.waits

    @property
    def by_doc(self) -> bool:
        """Whether it scores all samples of a doc and condition together, as a set of answers."""
        return self.traits.unit == "doc"

    def begun(self, reading: _Reading) -> bool:
        """Whether it scores the answers of a sample before the one that failed."""
        return self.traits.scores_begun and bool(reading.scorer_input.parsed)

    @property
    def batch(self) -> int:
        """The most samples in one call (for a scorer by doc: the most sets)."""
        return self.traits.batch_size or (1 if self.waits else BATCH)


@dataclass(frozen=True)
class _Failed(Score):
    """The score of a sample on which a scorer raised."""

    fault: ComponentFault | None = None


class _Reading(NamedTuple):
    """The answers of a sample as read by one chain of parsers. `unread`: why some of several could not be read."""

    scorer_input: ScorerInput
    status: Status
    reason: str | None
    route: str | None
    unread: str | None = None


@dataclass(slots=True)
class PendingScore:
    """A sample that is being scored. `readings` are by name, "" if the task has one chain of parsers."""

    readings: Mapping[str, _Reading]
    status: Status
    reason: str | None
    scores: list[tuple[ScorerPart, Score]] = field(default_factory=list)
    faults: list[ComponentFault] = field(default_factory=list)
    transient: bool = False
    """Whether the cause of the error is not in a component's code, so that another try may succeed."""

    @property
    def scorer_input(self) -> ScorerInput:
        """The input of the scorers of the first reading."""
        return next(iter(self.readings.values())).scorer_input

    @property
    def value(self) -> Any:
        """Return the parsed values to store, by reading if there are several."""
        values = {name: list(reading.scorer_input.values) for name, reading in self.readings.items()}
        plain = {name: parsed[0] if len(parsed) == 1 else parsed or None for name, parsed in values.items()}
        return plain.get("", plain)

    @property
    def route(self) -> str | None:
        """Return the routes by which the answers were read."""
        routes = [
            f"{name}: {reading.route}" if name else reading.route
            for name, reading in self.readings.items()
            if reading.route
        ]
        return "; ".join(routes) or None

    def note(self, fault: ComponentFault | None) -> None:
        """Record why a scorer failed; None: for another reason than its own fault."""
        self.transient = self.transient or fault is None
        self.faults += [] if fault is None else [fault]


@dataclass(frozen=True, slots=True)
class TaskScoring:
    """The parser chains and scorers of a task; `scorers` are in the order of the task file."""

    task: Task
    chains: Mapping[str, ParserChain]
    scorers: Sequence[ScorerPart]
    context: TaskContext
    conditions: Mapping[str, Condition]
    dataset: Dataset | None = None
    """The docs of samples that are stored by reference; None if samples contain their docs."""

    @property
    def waiting(self) -> int:
        """The largest batch of a scorer that asks models, or 0."""
        return max((part.batch for part in self.scorers if part.waits), default=0)

    @property
    def by_docs(self) -> bool:
        """Whether a scorer needs all samples of a doc at once, so that batches may not split docs."""
        return any(part.by_doc for part in self.scorers)

    async def score(self, samples: Sequence[Sample]) -> list[ScoreRecord]:
        """Score some samples: one ScoreRecord for each, in order."""
        pending = await self.begin(samples)
        await self.finish(pending)
        return [self.joined(item) for item in pending]

    async def begin(self, samples: Sequence[Sample]) -> list[PendingScore]:
        """Read the answers, and apply the scorers that call no model."""
        if self.dataset is not None:
            samples = [with_media(with_doc(sample, self.dataset), self.dataset) for sample in samples]
        pending = [self._read_answers(sample) for sample in samples]
        await self._apply_all(pending, lambda part: not part.waits)
        return pending

    async def finish(self, pending: Sequence[PendingScore]) -> None:
        """Apply the scorers that ask models."""
        await self._apply_all(pending, lambda part: part.waits)

    def joined(self, pending: PendingScore) -> ScoreRecord:
        """Join the scores of all scorers; if one failed, only its scores are missing."""
        self.context.forget(pending.scorer_input.key)
        numbers: dict[str, float] = {}
        details: dict[str, Any] = {}
        missing: dict[str, MissingScore] = {}
        status, reason = pending.status, pending.reason
        for part, score in self._in_order(pending.scores):
            details.update(score.details or {})
            failure = _missing_score(score)
            valid_scores = {} if failure is not None and failure.status is Status.ERRORED else score.scores
            numbers.update({name: float(value) for name, value in valid_scores.items()})
            if failure is None:
                missing.update(score.missing)
                continue
            if failure.status is Status.ERRORED:
                pending.note(score.fault if isinstance(score, _Failed) else None)
            missing.update({name: score.missing.get(name, failure) for name in part.gives if name not in valid_scores})
            if reason is None or (failure.status is Status.ERRORED and status is not Status.ERRORED):
                status, reason = failure.status, failure.reason
        for name in numbers.keys() & missing.keys():  # several scorers state no names: another one produced it
            del missing[name]
        if not numbers and all(failure.status is status for failure in missing.values()):
            missing = {}  # the sample's own status is enough
        return ScoreRecord(
            key=pending.scorer_input.key,
            status=status,
            scores=numbers,
            value=pending.value,
            route=pending.route,
            reason=reason,
            details=details,
            missing=missing,
            faults=() if pending.transient else tuple(dict.fromkeys(pending.faults)),
        )

    def _in_order(self, scores: list[tuple[ScorerPart, Score]]) -> list[tuple[ScorerPart, Score]]:
        """Return the scores of a sample in the order of the scorers."""
        if len(scores) < 2:
            return scores
        order = {id(part): number for number, part in enumerate(self.scorers)}
        return sorted(scores, key=lambda pair: order[id(pair[0])])

    def _read_answers(self, sample: Sample) -> PendingScore:
        """Parse the answers of a sample in every reading, or store the reason why it cannot be scored."""
        faults = list(sample.faults)
        readings = {name: self._read_by(chain, sample, faults) for name, chain in self.chains.items()}
        first = min(readings.values(), key=lambda reading: reading.status is not Status.SCORED)
        transient = any(reading.status is Status.ERRORED for reading in readings.values()) and not faults
        return PendingScore(readings, first.status, first.reason, faults=faults, transient=transient)

    def _read_by(self, chain: ParserChain, sample: Sample, faults: list[ComponentFault]) -> _Reading:
        condition = self.conditions.get(sample.key.condition, Condition(sample.key.condition))
        parsed: list[Parsed] = []
        status, reason, unread = sample.status, sample.reason, None
        partial = status.is_failure and bool(sample.answers) and any(part.traits.scores_begun for part in self.scorers)
        if partial:
            with suppress(Exception):  # a plugin's parser; the sample has failed anyway
                parsed = [chain.parse(answer) for answer in sample.answers]
        elif status is Status.SCORED:
            try:
                parsed = [chain.parse(answer) for answer in sample.answers]
            except (Exception, SystemExit) as error:  # a plugin's parser, or a pattern that takes too long
                status, reason = Status.ERRORED, _reason("a parser of the task", error)
                step = step_that_raised(error)
                fault = None if step is None else fault_of(f"parser {step.name}", step.parser, error)
                faults += [] if fault is None else [fault]
            failed = [attempt for attempt in parsed if not attempt.ok]
            if failed and len(failed) == len(parsed):
                status, reason = Status.UNPARSED, failed[0].reason
            elif failed:
                share = f"{len(failed)} of {len(parsed)} answers could not be read"
                unread = f"{share}: {failed[0].reason}"
        values = [attempt.value for attempt in parsed if attempt.ok and not partial]
        routes = "; ".join(dict.fromkeys(attempt.route for attempt in parsed if attempt.route)) or None
        scorer_input = ScorerInput(
            sample.key, sample.doc, condition, values, sample.answers, sample.outcome, parsed, sample.calls
        )
        return _Reading(scorer_input, status, reason, routes, unread)

    async def _apply_all(self, pending: Sequence[PendingScore], selects: Callable[[ScorerPart], bool]) -> None:
        for part in filter(selects, self.scorers):
            every = part.traits.scores_failures
            some = part.traits.reads_some
            items = []
            for item in pending:
                reading = item.readings[part.ref.reading]
                if reading.status is Status.SCORED and reading.unread is not None and not some:
                    item.scores.append((part, Score({}, failure=reading.unread)))
                elif reading.status is Status.SCORED or (reading.status.is_failure and (every or part.begun(reading))):
                    items.append(item)
                elif item.status is Status.SCORED:  # another reading could read it
                    errored = reading.status is Status.ERRORED
                    item.scores.append((part, Score({}, failure=reading.reason or "it was not read", errored=errored)))
            for group in _groups(part, items):
                scores = await self._apply(part, [item.readings[part.ref.reading].scorer_input for item in group])
                for item, score in zip(group, scores, strict=True):
                    item.scores.append((part, score))

    async def _apply(self, part: ScorerPart, items: Sequence[ScorerInput]) -> Sequence[Score]:
        """Score a batch with one scorer; if it fails as a whole, score each sample alone."""
        try:
            return await self._call(part, items)
        except (BudgetError, RunError, UsageError):
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            if len(items) == 1 or part.by_doc:
                fault = fault_of(f"scorer {part.name}", part.scorer, error)
                return [
                    _Failed({}, failure=_reason(f"the scorer {part.name!r}", error), errored=True, fault=fault)
                    for _ in items
                ]
            for item in items:
                self.context.forget(item.key)  # reset the counters: its questions get the same numbers again
            return [(await self._apply(part, [item]))[0] for item in items]

    async def _call(self, part: ScorerPart, items: Sequence[ScorerInput]) -> Sequence[Score]:
        returned = part.scorer.score(items, self.context)
        scores = await returned if inspect.isawaitable(returned) else returned
        fault = _shape_fault(scores, len(items))
        if fault is not None:
            raise InterfaceError(f"the scorer {part.name!r} {fault} ({source_of(part.scorer.score)})")
        if part.closed:
            _check_names(part, scores)
        return [_renamed(score, part.ref) for score in scores] if part.ref.renames else scores


def make_scoring(task: Task, registry: Registry, context: TaskContext) -> TaskScoring:
    """Return the parser chain and the scorers of a task, which get resources and roles from this context."""
    scorers = [_scorer(task, ref, registry) for ref in task.score]
    conditions = {condition.name: condition for condition in task.conditions}
    chains = {name: build_chain(chain, registry) for name, chain in task.chains.items()}
    return TaskScoring(task, chains, scorers, context, conditions)


def _scorer(task: Task, ref: ComponentRef, registry: Registry) -> ScorerPart:
    """Create a scorer. The scores of an open one are those that the metrics use and no other scorer declares."""
    component = registry.get("scorer", ref.name)
    called = _called(ref)
    produced: Sequence[str] = [called.named(name) for name in component.produces if name != ANY_SCORE]
    if ANY_SCORE in component.produces:
        declared = {name for other in task.score if other is not ref for name in _declared(other, registry)}
        undeclared = [metric.source for metric in task.metrics if metric.source not in declared]
        produced = [*produced, *(name for name in undeclared if called.own(name) is not None)]
    scorer, traits = component.make_scorer(ref.parameters), component.scorer_traits(ref.parameters)
    names = tuple(dict.fromkeys(produced))
    return ScorerPart(ref.name, scorer, traits, names, ANY_SCORE not in component.produces, called)


def _called(ref: ComponentRef) -> ScorerRef:
    return ref if isinstance(ref, ScorerRef) else ScorerRef(ref.name, ref.parameters)


def _declared(ref: ComponentRef, registry: Registry) -> list[str]:
    """Return the task's names for the scores that a scorer declares, by name or (an open one) with a range."""
    component = registry.get("scorer", ref.name)
    ranges = component.ranges(ref.parameters) if callable(component.ranges) else component.ranges
    named = [*component.produces, *ranges] if ANY_SCORE in component.produces else component.produces
    return [_called(ref).named(name) for name in named if name != ANY_SCORE]


def _renamed(score: Score, ref: ScorerRef) -> Score:
    """Return a score under the task's names; entries next to the numbers get the same suffix."""
    unsuffixed = replace(ref, single=False)
    return replace(
        score,
        scores={ref.named(name): value for name, value in score.scores.items()},
        missing={ref.named(name): reason for name, reason in score.missing.items()},
        details={unsuffixed.named(name): value for name, value in (score.details or {}).items()},
    )


def _groups(part: ScorerPart, items: Sequence[PendingScore]) -> Iterator[Sequence[PendingScore]]:
    """Cut samples into groups for a scorer: all of a doc and condition, or a number of samples."""
    if not part.by_doc:
        for start in range(0, len(items), part.batch):
            yield items[start : start + part.batch]
        return
    sets: dict[tuple[str, str], list[PendingScore]] = {}
    for item in items:
        sets.setdefault((item.scorer_input.key.doc, item.scorer_input.key.condition), []).append(item)
    yield from sets.values()


def _shape_fault(scores: Any, count: int) -> str | None:
    """Return what is wrong with the result of a scorer, or None."""
    if not isinstance(scores, Sequence) or isinstance(scores, str):
        return f"returned a {type(scores).__name__}, not a list of scores"
    if len(scores) != count:
        return f"returned {counted(len(scores), 'scores')} for {counted(count, 'samples')}"
    for score in scores:
        if not isinstance(score, Score):
            return f"returned a {type(score).__name__}, not a Score"
        if not isinstance(score.scores, Mapping):
            return f"returned a Score whose scores are a {type(score.scores).__name__}"
        for name, value in score.scores.items():
            if not isinstance(value, int | float | np.number | np.bool_):
                return f"returned {name!r} as a {type(value).__name__}, not a number"
    return None


def _check_names(part: ScorerPart, scores: Sequence[Score]) -> None:
    for score in scores:
        foreign = next((name for name in score.scores if part.ref.named(name) not in part.gives), None)
        if foreign is not None:
            what = f"the scorer {part.name!r} returned the score {foreign!r}, which it does not declare"
            raise InterfaceError(what, fix=f"It declares: {', '.join(part.gives)}. Report this to its plugin.")


def _reason(part: str, error: BaseException) -> str:
    if isinstance(error, CrevalError):
        return redact(str(error))
    return redact(f"{part} failed: {type(error).__name__}: {error} ({line_of(error)})")


def _missing_score(score: Score) -> MissingScore | None:
    """Return why a scorer's scores are missing, or None."""
    wrong = next((name for name, value in score.scores.items() if not math.isfinite(value)), None)
    if score.failure is not None and (score.errored or wrong is None):
        return MissingScore(Status.ERRORED if score.errored else Status.UNPARSED, score.failure)
    if wrong is not None:
        return MissingScore(Status.ERRORED, f"the score {wrong!r} is not a finite number ({score.scores[wrong]})")
    return None


def batches(samples: Iterable[Sample], size: int = BATCH) -> Iterator[list[Sample]]:
    """Cut a stream of samples into lists, so that a whole run is never in memory."""
    stream = iter(samples)
    while batch := list(islice(stream, size)):
        yield batch


def doc_batches(
    samples: Iterable[Sample], sizes: Counter[tuple[str, str]], size: int = BATCH
) -> Iterator[list[Sample]]:
    """Cut a stream of samples into lists without splitting docs; `sizes` has the samples per (doc, condition).

    Only docs with samples still to come are held in memory: the samples of a doc are made one after the other.
    """
    waiting: dict[tuple[str, str], list[Sample]] = {}
    ready: list[Sample] = []
    for sample in samples:
        place = (sample.key.doc, sample.key.condition)
        waiting.setdefault(place, []).append(sample)
        if len(waiting[place]) == sizes[place]:
            ready += waiting.pop(place)
        if len(ready) >= size:
            yield ready
            ready = []
    if ready:
        yield ready
