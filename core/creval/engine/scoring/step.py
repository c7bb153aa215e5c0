"""The second step of a task, on files: samples/<task>.jsonl -> scores/<task>.jsonl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from creval.engine.resuming.rows import Kept
from creval.engine.scoring.score import BATCH, TaskScoring, batches, doc_batches
from creval.engine.scoring.storing import Storing
from creval.errors import BudgetError
from creval.runs.codec import read_sample, score_data
from creval.runs.folder import Done, DoneKeys, RunFolder
from creval.runs.jsonl import Appender, UnstorableError
from creval.types.execution import Scored
from creval.types.sample import Sample, SampleScore, Status

__all__ = ["Scoring", "ScoringWatch", "score_again", "score_missing", "store"]


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


class Scoring(NamedTuple):
    """How the samples of a task are scored: with what, by whom (an executor), in batches of how many at most."""

    parts: TaskScoring
    score: Callable[[str, Iterator[Sequence[Sample]], Scored], Awaitable[None]]
    batch: int = BATCH


async def score_missing(folder: RunFolder, scoring: Scoring, watch: ScoringWatch) -> BudgetError | None:
    """Score the samples that have no score yet, or an errored one; each score is written when the sample is done.

    Returns the BudgetError that ended it, if one did; what was not scored then counts as skipped.
    """
    task = scoring.parts.task.name
    done = folder.prepare_scores(task, watch.kept.scores)
    if scoring.parts.by_docs and _lacking(folder, task, done, watch.kept):
        # a new answer changes what the others are worth
        folder.scores(task).unlink(missing_ok=True)
        done = DoneKeys()
    watch.some(len(done))
    return await _score(_Reading(folder, done), scoring, Appender(folder.scores(task)), watch)


async def score_again(folder: RunFolder, scoring: Scoring, watch: ScoringWatch) -> BudgetError | None:
    """Score every sample anew into the file beside the old one that is to take its place (`RunFolder.new_scores`)."""
    beside = folder.new_scores(scoring.parts.task.name)
    beside.unlink(missing_ok=True)
    return await _score(_Reading(folder, DoneKeys()), scoring, Appender(beside), watch)


def _lacking(folder: RunFolder, task: str, done: Done, kept: Kept) -> bool:
    if kept.settled(done, folder.samples(task)):
        return False
    return any(key not in done for key, _ in folder.sample_lines(task))


class _Reading(NamedTuple):
    """The samples of a run that are to be scored."""

    folder: RunFolder
    done: Done

    def samples(self, task: str, watch: ScoringWatch) -> Iterator[Sample]:
        if watch.kept.settled(self.done, self.folder.samples(task)):
            return
        for key, line in self.folder.sample_lines(task):
            wanted, counted = key not in self.done, line.number <= watch.kept.lines
            if counted and not wanted:
                continue
            record = line.record()
            if not counted:
                watch.read(record)
            if wanted:
                yield read_sample(record)

    def sizes(self, task: str, kept: Kept) -> Counter[tuple[str, str]]:
        """Return how many samples each (doc, condition) has that are to be scored."""
        if kept.settled(self.done, self.folder.samples(task)):
            return Counter()
        keys = (key for key, _ in self.folder.sample_lines(task))
        return Counter((key.doc, key.condition) for key in keys if key not in self.done)


async def _score(reading: _Reading, how: Scoring, file: Appender, watch: ScoringWatch) -> BudgetError | None:
    """Let the executor score what is to be scored; each score is written the moment it comes."""
    parts = how.parts
    samples = reading.samples(parts.task.name, watch)
    cut = batches(samples, how.batch)
    if parts.by_docs:
        cut = doc_batches(samples, reading.sizes(parts.task.name, watch.kept), how.batch)

    def scored(scores: Sequence[SampleScore]) -> None:
        for score in scores:
            watch.one(store(file.append, score, parts.storing))
        watch.some(len(scores))

    budget = None
    try:
        await how.score(parts.task.name, cut, scored)
    except BudgetError as error:
        budget = error
    finally:
        file.close()
    for _ in samples:  # after the budget's end the rest is read for what it took
        pass
    return budget


def store(write: Callable[[dict[str, object]], object], score: SampleScore, storing: Storing | None) -> SampleScore:
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
