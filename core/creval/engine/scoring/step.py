"""The second step of a task, on files: samples/<task>.jsonl -> scores/<task>.jsonl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from creval.engine.scoring.score import TaskScoring, batches
from creval.errors import BudgetError
from creval.runs.codec import score_data
from creval.runs.folder import DoneKeys, RunFolder
from creval.runs.jsonl import Appender, UnstorableError
from creval.types.sample import Sample, SampleScore, Status

__all__ = ["ScoringWatch", "score_again", "score_missing"]


class ScoringWatch(Protocol):
    """Who is told of samples and scores."""

    def read(self, sample: Sample) -> None:
        """A sample has been read, be it scored now or before."""

    def one(self, score: SampleScore) -> None:
        """A sample has been scored and its score is written."""

    def some(self, count: int) -> None:
        """A batch of `count` samples is done."""


async def score_missing(folder: RunFolder, scoring: TaskScoring, watch: ScoringWatch) -> BudgetError | None:
    """Score the samples that have no score yet, or an errored one; each batch is on disk when it is done.

    A judge that was paid is thus never asked again for the same sample. Returns the BudgetError that ended it, if
    one did; what was not scored then counts as skipped.
    """
    done = folder.prepare_scores(scoring.task.name)
    watch.some(len(done))
    file = Appender(folder.scores(scoring.task.name))
    return await _score(_Reading(folder, done), scoring, file, watch)


async def score_again(folder: RunFolder, scoring: TaskScoring, watch: ScoringWatch) -> BudgetError | None:
    """Score every sample anew into a file beside the old one, which takes its place when it is whole."""
    path = folder.scores(scoring.task.name)
    beside = path.with_name(f"{path.stem}.new.jsonl")
    beside.unlink(missing_ok=True)
    try:
        budget = await _score(_Reading(folder, DoneKeys()), scoring, Appender(beside), watch)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return budget


class _Reading(NamedTuple):
    """The samples of a run that are to be scored."""

    folder: RunFolder
    done: DoneKeys

    def samples(self, task: str, watch: ScoringWatch) -> Iterator[Sample]:
        for sample in self.folder.read_samples(task):
            watch.read(sample)
            if sample.key not in self.done:
                yield sample


async def _score(reading: _Reading, scoring: TaskScoring, file: Appender, watch: ScoringWatch) -> BudgetError | None:
    samples = reading.samples(scoring.task.name, watch)
    try:
        for batch in batches(samples):
            for score in await scoring.score(batch):
                watch.one(_append(file.append, score))
            watch.some(len(batch))
    except BudgetError as error:
        for _ in samples:  # the rest is read for what it took
            pass
        return error
    finally:
        file.close()
    return None


def _append(write: Callable[[dict[str, object]], None], score: SampleScore) -> SampleScore:
    """Write a score; one that is no plain data is a fault of its scorer, and the sample ends as errored."""
    try:
        write(score_data(score))
        return score
    except UnstorableError as error:
        reason = f"the parsed value or the details of the score: {error.what}"
        failed = SampleScore(score.key, Status.ERRORED, route=score.route, reason=reason)
        write(score_data(failed))
        return failed
