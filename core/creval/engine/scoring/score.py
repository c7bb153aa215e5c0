"""The second step: saved answers are parsed and scored, in batches, without asking the target."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from creval.engine.context import TaskContext
from creval.engine.scoring.tally import FAILED
from creval.errors import BudgetError, CrevalError, ScoringError, UsageError
from creval.models.secrets import redact
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
        items = [self._read(sample) for sample in samples]
        collected: list[list[Score]] = [[] for _ in items]
        for name, scorer in self.scorers:
            every = getattr(scorer, "scores_failures", False)
            chosen = [
                i for i, item in enumerate(items) if item.status is Status.SCORED or (every and item.status in FAILED)
            ]
            scores = await self._apply(name, scorer, [items[i].scorable for i in chosen])
            for index, score in zip(chosen, scores, strict=True):
                collected[index].append(score)
        self.context.forget_calls()
        return [_combine(item, scores) for item, scores in zip(items, collected, strict=True)]

    def _read(self, sample: Sample) -> _Read:
        """Parse the answers of a sample, or keep why it cannot be scored."""
        condition = self.conditions.get(sample.key.condition, Condition(sample.key.condition))
        values: list[Any] = []
        routes: list[str] = []
        status, reason = sample.status, sample.reason
        if status is Status.SCORED:
            for answer in sample.answers:
                parsed = self.chain.parse(answer)
                routes.append(parsed.route)
                if not parsed.ok:
                    status, reason, values = Status.UNPARSED, parsed.reason, []
                    break
                values.append(parsed.value)
        scorable = Scorable(sample.key, sample.doc, condition, values, sample.answers, sample.outcome)
        return _Read(scorable, status, reason, "; ".join(dict.fromkeys(filter(None, routes))) or None)

    async def _apply(self, name: str, scorer: Scorer, items: Sequence[Scorable]) -> Sequence[Score]:
        """Score a batch with one scorer; where it fails as a whole, each sample is tried alone."""
        if not items:
            return []
        try:
            return await self._call(name, scorer, items)
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
class _Read:
    scorable: Scorable
    status: Status
    reason: str | None
    route: str | None


def _reason(name: str, error: Exception) -> str:
    if isinstance(error, CrevalError):
        return redact(str(error))
    return redact(f"the scorer {name!r} failed: {type(error).__name__}: {error}")


def _combine(item: _Read, scores: Sequence[Score]) -> SampleScore:
    """Join the scores of all scorers; one failure fails the sample, with its reason."""
    status, reason = item.status, item.reason
    numbers: dict[str, float] = {}
    details: dict[str, Any] = {}
    for score in scores:
        details.update(score.details or {})
        if score.failure is not None:
            status, reason = Status.ERRORED if score.errored else Status.UNPARSED, score.failure
            break
        wrong = next((name for name, value in score.scores.items() if not math.isfinite(value)), None)
        if wrong is not None:
            status, reason = Status.ERRORED, f"the score {wrong!r} is not a finite number ({score.scores[wrong]})"
            break
        numbers.update({name: float(value) for name, value in score.scores.items()})
    else:
        return SampleScore(item.scorable.key, status, numbers, _plain(item), item.route, reason, details)
    return SampleScore(item.scorable.key, status, {}, _plain(item), item.route, reason, details)


def _plain(item: _Read) -> Any:
    values = list(item.scorable.values)
    return values[0] if len(values) == 1 else values or None


def batches(samples: Iterable[Sample], size: int = BATCH) -> Iterator[list[Sample]]:
    """Cut a stream of samples into lists, so that a whole run never sits in memory."""
    stream = iter(samples)
    while batch := list(islice(stream, size)):
        yield batch
