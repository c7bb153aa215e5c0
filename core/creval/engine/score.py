"""The second step: saved answers are parsed and scored, in batches, without asking the target."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from creval.engine.context import TaskContext
from creval.errors import BudgetError, CrevalError, ModelError, ScoringError, UsageError
from creval.parsing.chain import ParserChain
from creval.tasks.model import Task
from creval.types.components import Scorable, Score, Scorer
from creval.types.sample import Condition, Sample, SampleScore, Status

__all__ = ["BATCH", "TaskScoring", "batches"]

BATCH = 256


@dataclass(frozen=True, slots=True)
class TaskScoring:
    """What scoring a task needs. `scorers` in the order of the task file, each with its name."""

    task: Task
    chain: ParserChain
    scorers: Sequence[tuple[str, Scorer]]
    context: TaskContext
    conditions: Mapping[str, Condition]

    async def score(self, samples: Sequence[Sample]) -> list[SampleScore]:
        """Score a batch: one SampleScore for each sample, in order."""
        read = [self._read(sample) for sample in samples]
        items = [item for item in read if isinstance(item, _Readable)]
        results: list[list[Score]] = [[] for _ in items]
        for name, scorer in self.scorers:
            for collected, score in zip(results, await self._apply(name, scorer, items), strict=True):
                collected.append(score)
        self.context.forget_calls()
        scored = iter([_combine(item, scores) for item, scores in zip(items, results, strict=True)])
        return [next(scored) if isinstance(item, _Readable) else item for item in read]

    def _read(self, sample: Sample) -> _Readable | SampleScore:
        """Parse the answers of a sample, or say why it cannot be scored."""
        if sample.status is not Status.SCORED:
            return SampleScore(sample.key, sample.status, reason=sample.reason)
        values, routes = [], []
        for answer in sample.answers:
            parsed = self.chain.parse(answer)
            if not parsed.ok:
                return SampleScore(sample.key, Status.UNPARSED, reason=parsed.reason, route=parsed.route or None)
            values.append(parsed.value)
            routes.append(parsed.route)
        condition = self.conditions.get(sample.key.condition, Condition(sample.key.condition))
        scorable = Scorable(sample.key, sample.doc, condition, values, sample.answers, sample.outcome)
        return _Readable(scorable, "; ".join(dict.fromkeys(routes)) or None)

    async def _apply(self, name: str, scorer: Scorer, items: Sequence[_Readable]) -> Sequence[Score]:
        """Score a batch with one scorer; where it fails as a whole, each sample is tried alone."""
        if not items:
            return []
        scorables = [item.scorable for item in items]
        try:
            return await self._call(name, scorer, scorables)
        except (BudgetError, UsageError):
            raise
        except Exception as error:
            if len(items) == 1:
                return [Score({}, failure=_reason(name, error), errored=True)]
            return [(await self._apply(name, scorer, [item]))[0] for item in items]

    async def _call(self, name: str, scorer: Scorer, items: Sequence[Scorable]) -> Sequence[Score]:
        given = scorer.score(items, self.context)
        scores = await given if inspect.isawaitable(given) else given
        if len(scores) != len(items):
            raise ScoringError(f"the scorer {name!r} gave {len(scores)} scores for {len(items)} samples")
        return scores


@dataclass(frozen=True, slots=True)
class _Readable:
    scorable: Scorable
    route: str | None


def _reason(name: str, error: Exception) -> str:
    if isinstance(error, ScoringError | ModelError | CrevalError):
        return str(error)
    return f"the scorer {name!r} failed: {type(error).__name__}: {error}"


def _combine(item: _Readable, scores: Sequence[Score]) -> SampleScore:
    """Join the scores of all scorers; one failure fails the sample, with its reason."""
    key = item.scorable.key
    numbers: dict[str, float] = {}
    details: dict[str, Any] = {}
    for score in scores:
        details.update(score.details or {})
        if score.failure is not None:
            status = Status.ERRORED if score.errored else Status.UNPARSED
            return SampleScore(key, status, {}, _plain(item), item.route, score.failure, details)
        for name, value in score.scores.items():
            if not math.isfinite(value):
                reason = f"the score {name!r} is not a finite number ({value})"
                return SampleScore(key, Status.ERRORED, {}, _plain(item), item.route, reason, details)
            numbers[name] = float(value)
    return SampleScore(key, Status.SCORED, numbers, _plain(item), item.route, None, details)


def _plain(item: _Readable) -> Any:
    values = list(item.scorable.values)
    return values[0] if len(values) == 1 else values or None


def batches(samples: Iterable[Sample], size: int = BATCH) -> Iterator[list[Sample]]:
    """Cut a stream of samples into lists, so that a whole run never sits in memory."""
    stream = iter(samples)
    while batch := list(islice(stream, size)):
        yield batch
