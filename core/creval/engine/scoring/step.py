"""The second step of a task, on files: samples/<task>.jsonl -> scores/<task>.jsonl."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from creval.engine.resuming.rows import Kept
from creval.engine.scoring.score import BATCH, Pending, TaskScoring, batches, doc_batches
from creval.engine.scoring.storing import Storing
from creval.errors import BudgetError
from creval.runs.codec import read_sample, score_data
from creval.runs.folder import DoneKeys, RunFolder
from creval.runs.jsonl import Appender, UnstorableError
from creval.types.sample import Sample, SampleScore, Status

__all__ = ["ScoringWatch", "score_again", "score_missing"]


class ScoringWatch(Protocol):
    """Who is told of samples and scores."""

    @property
    def kept(self) -> Kept:
        """What is known of the task's samples and scores; its lines of samples/ need not be read but to be scored."""

    def read(self, record: Mapping[str, Any]) -> None:
        """A further line of samples/ has been read, be it scored now or before."""

    def one(self, score: SampleScore) -> None:
        """A sample has been scored and its score is written."""

    def some(self, count: int) -> None:
        """`count` further samples are done."""


async def score_missing(
    folder: RunFolder, scoring: TaskScoring, watch: ScoringWatch, concurrency: int
) -> BudgetError | None:
    """Score the samples that have no score yet, or an errored one; each score is written when the sample is done.

    Returns the BudgetError that ended it, if one did; what was not scored then counts as skipped.
    """
    done = folder.prepare_scores(scoring.task.name, watch.kept.scores)
    if scoring.by_docs and _lacking(folder, scoring.task.name, done):  # a new answer changes what the others are worth
        folder.scores(scoring.task.name).unlink(missing_ok=True)
        done = DoneKeys()
    watch.some(len(done))
    file = Appender(folder.scores(scoring.task.name))
    return await _score(_Reading(folder, done), (scoring, concurrency), file, watch)


async def score_again(
    folder: RunFolder, scoring: TaskScoring, watch: ScoringWatch, concurrency: int
) -> BudgetError | None:
    """Score every sample anew into the file beside the old one that is to take its place (`RunFolder.new_scores`)."""
    beside = folder.new_scores(scoring.task.name)
    beside.unlink(missing_ok=True)
    reading = _Reading(folder, DoneKeys())
    return await _score(reading, (scoring, concurrency), Appender(beside), watch)


def _lacking(folder: RunFolder, task: str, done: DoneKeys) -> bool:
    return any(key not in done for key, _ in folder.sample_lines(task))


class _Reading(NamedTuple):
    """The samples of a run that are to be scored."""

    folder: RunFolder
    done: DoneKeys

    def samples(self, task: str, watch: ScoringWatch) -> Iterator[Sample]:
        for key, line in self.folder.sample_lines(task):
            wanted, counted = key not in self.done, line.number <= watch.kept.lines
            if counted and not wanted:
                continue
            record = line.record()
            if not counted:
                watch.read(record)
            if wanted:
                yield read_sample(record)

    def sizes(self, task: str) -> Counter[tuple[str, str]]:
        """Return how many samples each (doc, condition) has that are to be scored."""
        keys = (key for key, _ in self.folder.sample_lines(task))
        return Counter((key.doc, key.condition) for key in keys if key not in self.done)


class _Queue:
    """Samples to score, from which all workers draw; the file is read as they need it."""

    def __init__(self, samples: Iterator[list[Sample]], scoring: TaskScoring) -> None:
        self.budget: BudgetError | None = None
        self._batches = samples
        self._scoring = scoring
        self._ready: deque[Pending] = deque()
        self._filling = asyncio.Lock()

    async def take(self, count: int) -> list[Pending]:
        """Return up to `count` samples to which the scorers that ask nobody were applied; none at the end."""
        async with self._filling:
            if not self._ready and self.budget is None:
                batch = next(self._batches, None)
                if batch is not None:
                    self._ready.extend(await self._scoring.begin(batch))
            if self.budget is not None:
                return []
            return [self._ready.popleft() for _ in range(min(count, len(self._ready)))]


async def _score(
    reading: _Reading, how: tuple[TaskScoring, int], file: Appender, watch: ScoringWatch
) -> BudgetError | None:
    """Score with as many workers as calls may be in flight, where a scorer asks others, else with one."""
    scoring, concurrency = how
    samples = reading.samples(scoring.task.name, watch)
    whole = scoring.by_docs
    queue = _Queue(doc_batches(samples, reading.sizes(scoring.task.name)) if whole else batches(samples), scoring)

    async def work() -> None:
        while True:
            try:
                group = await queue.take(scoring.waiting or BATCH)
                await scoring.finish(group)
            except BudgetError as error:  # those in flight come to their own end
                queue.budget = error
                return
            if not group:
                return
            for each in group:
                watch.one(_append(file.append, scoring.joined(each), scoring.storing))
            watch.some(len(group))

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency if scoring.waiting else 1):
                workers.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        file.close()
    for _ in samples:  # after the budget's end the rest is read for what it took
        pass
    return queue.budget


def _append(write: Callable[[dict[str, object]], object], score: SampleScore, storing: Storing | None) -> SampleScore:
    """Write a score; one that is no plain data is a fault of its scorer, and the sample ends as errored."""
    try:
        write(score_data(score if storing is None else storing.stored(score)))
    except UnstorableError as error:
        reason = f"the parsed value or the details of the score: {error.what}"
        score = SampleScore(score.key, Status.ERRORED, route=score.route, reason=reason)
        write(score_data(score if storing is None else storing.stored(score)))
    if storing is not None:
        storing.done(score.key)
    return score
