"""The second step of a task, on files: samples/<task>.jsonl -> scores/<task>.jsonl."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from creval.engine.resuming.resume_state import ResumeState
from creval.engine.scoring.task_scoring import BATCH, PendingScore, TaskScoring, batches, doc_batches
from creval.errors import BudgetError
from creval.runs.folder import RunFolder
from creval.runs.jsonl import Appender, UnstorableError, dump_line
from creval.runs.record_data import read_sample, score_data
from creval.types.execution import ScoreSink
from creval.types.sample import Sample, ScoreRecord, Status

__all__ = ["Scoring", "ScoringWatch", "score_again", "score_missing", "score_stream", "store_score"]


class ScoringWatch(Protocol):
    """Receives notifications of scored samples."""

    def one(self, score: ScoreRecord) -> None:
        """A sample has been scored and its score is written."""

    def some(self, count: int) -> None:
        """`count` further samples are done."""


class Scoring(NamedTuple):
    """How the samples of a task are scored: the parsers and scorers, the executor, the largest batch."""

    parts: TaskScoring
    score: Callable[[str, Iterator[Sequence[Sample]], ScoreSink], Awaitable[None]]
    batch: int = BATCH


async def score_missing(
    folder: RunFolder, state: ResumeState[Any], how: Scoring, watch: ScoringWatch
) -> BudgetError | None:
    """Score the samples that have no score yet, or an errored one; each score is written when the sample is done.

    Returns the BudgetError that ended it, if any; samples without a score then count as skipped.
    """
    if how.parts.by_docs and not state.samples_scored:
        state.begin_scores()  # a new answer changes the scores of the others
    watch.some(len(state.scores.done))
    return await _score(_SamplesToScore(folder, state), how, watch)


async def score_again(
    folder: RunFolder, state: ResumeState[Any], how: Scoring, watch: ScoringWatch
) -> BudgetError | None:
    """Score every sample again, into a new file next to the one that it replaces (`RunFolder.new_scores`)."""
    state.begin_scores()
    return await _score(_SamplesToScore(folder, state), how, watch)


class _SamplesToScore(NamedTuple):
    """The samples of a run that are to be scored."""

    folder: RunFolder
    state: ResumeState[Any]

    def samples(self, task: str) -> Iterator[Sample]:
        if self.state.samples_scored:
            return
        samples, done = self.state.samples, self.state.scores.done
        first = not len(done)  # then no sample needs to be looked up
        for key, line in self.folder.sample_lines(task):
            to_score, counted = first or key not in done, line.start < samples.size
            if counted and not to_score:
                continue
            record = line.record()
            if not counted:
                samples.take(line, record)
            if to_score:
                yield read_sample(record)

    def sizes(self, task: str) -> Counter[tuple[str, str]]:
        """Return the number of samples to be scored of each (doc, condition)."""
        if self.state.samples_scored:
            return Counter()
        keys = (key for key, _ in self.folder.sample_lines(task))
        return Counter((key.doc, key.condition) for key in keys if key not in self.state.scores.done)


async def _score(reading: _SamplesToScore, how: Scoring, watch: ScoringWatch) -> BudgetError | None:
    """Let the executor score the pending samples; each score is written when it arrives."""
    parts, state = how.parts, reading.state
    samples = reading.samples(parts.task.name)
    groups = batches(samples, how.batch)
    if parts.by_docs:
        groups = doc_batches(samples, reading.sizes(parts.task.name), how.batch)
    file = Appender(state.scores.path)

    def scored(scores: Sequence[ScoreRecord]) -> None:
        stored = [store_score(score) for score in scores]
        file.append_line(b"".join(each.line for each in stored))
        for each in stored:
            state.add_score(each.record, len(each.line))
            watch.one(each.score)
        watch.some(len(scores))

    budget = None
    try:
        await how.score(parts.task.name, groups, scored)
    except BudgetError as error:
        budget = error
    finally:
        file.close()
    for _ in samples:  # after the budget's end the rest is read for its usage
        pass
    state.save()
    return budget


class StoredScore(NamedTuple):
    """A score as it is stored: plain data, and the line of its file."""

    score: ScoreRecord
    record: Mapping[str, Any]
    line: bytes


def store_score(score: ScoreRecord) -> StoredScore:
    """Return the score to store. If it is not plain data, the scorer is at fault and the sample ends as errored."""
    record = score_data(score)
    try:
        return StoredScore(score, record, dump_line(record))
    except UnstorableError as error:
        reason = f"the parsed value or the details of the score: {error.what}"
        plain = ScoreRecord(score.key, Status.ERRORED, route=score.route, reason=reason)
        record = score_data(plain)
        return StoredScore(plain, record, dump_line(record))


class _Queue:
    """Samples to score, from which all workers draw; the file is read as they need it."""

    def __init__(self, samples: Iterator[Sequence[Sample]], scoring: TaskScoring) -> None:
        self.budget: BudgetError | None = None
        self._batches = samples
        self._scoring = scoring
        self._ready: deque[PendingScore] = deque()
        self._filling = asyncio.Lock()

    async def take(self, count: int) -> list[PendingScore]:
        """Return up to `count` samples, scored by the scorers that call no model; none at the end.

        If a scorer uses whole docs, more are returned, so that the samples of a doc and condition stay together.
        """
        async with self._filling:
            if not self._ready and self.budget is None:
                batch = next(self._batches, None)
                if batch is not None:
                    self._ready.extend(await self._scoring.begin(batch))
            if self.budget is not None:
                return []
            group = [self._ready.popleft() for _ in range(min(count, len(self._ready)))]
            while self._scoring.by_docs and self._ready and _same_set(group[-1], self._ready[0]):
                group.append(self._ready.popleft())
            return group


def _same_set(first: PendingScore, second: PendingScore) -> bool:
    """Whether two samples have the same doc and condition; those of one batch follow each other."""
    keys = first.scorer_input.key, second.scorer_input.key
    return (keys[0].doc, keys[0].condition) == (keys[1].doc, keys[1].condition)


async def score_stream(
    samples: Iterator[Sequence[Sample]], scoring: TaskScoring, concurrency: int, scored: ScoreSink
) -> None:
    """Score with as many workers as calls may be in flight if a scorer asks models, else with one.

    Raises BudgetError once the samples in flight are finished.
    """
    queue = _Queue(samples, scoring)
    step = asyncio.current_task()
    assert step is not None

    async def work() -> None:
        while not step.cancelling():  # also if a component ignored the cancellation
            try:
                group = await queue.take(scoring.waiting or BATCH)
                await scoring.finish(group)
            except BudgetError as error:  # samples in flight are finished
                queue.budget = error
                return
            if not group:
                return
            scored([scoring.joined(pending) for pending in group])

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency if scoring.waiting else 1):
                workers.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    if queue.budget is not None:
        raise queue.budget
