"""What a run holds of a task: its samples and their scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic

from creval.engine.planning.plan import TaskPlan
from creval.engine.planning.sample_ranks import Ranking
from creval.engine.resuming.checkpoint import Checkpoint
from creval.engine.resuming.row_state import RowState, S
from creval.engine.resuming.spending import SampleUsage
from creval.opener import remove
from creval.runs.folder import RunFolder
from creval.runs.jsonl import keep_lines
from creval.runs.record_data import read_key

__all__ = ["ResumeState"]


class ResumeState(Generic[S]):
    """The rows of a task's samples and of its scores, kept up to date while the run is going on.

    Nothing is read until `load`. `make` makes the empty summary of scores, `scores` is the file where these do not
    stand in the run's own.
    """

    def __init__(self, folder: RunFolder, plan: TaskPlan, make: Callable[[], S], scores: Path | None = None) -> None:
        task, ranking = plan.task.name, Ranking(plan)
        self.total = plan.total
        self.samples = RowState(folder.samples(task), ranking, SampleUsage)
        self.scores = RowState(scores or folder.scores(task), ranking, make)
        identity = _identity(plan)
        self._samples = Checkpoint(folder.checkpoint(folder.samples(task)), self.samples, identity)
        self._scores = Checkpoint(folder.checkpoint(folder.scores(task)), self.scores, identity)

    def load(self) -> None:
        """Account for what the files hold. Raises RunError, with file and line, for rows that are none of the run's."""
        self._samples.load()
        self._scores.load()

    @property
    def scored(self) -> bool:
        """Whether every sample that was planned is there with its score, and none is to be made again."""
        return self.samples.sound == self.scores.sound == len(self.scores.done) == self.total

    @property
    def settled(self) -> bool:
        """Whether each sample of the file has its score."""
        return len(self.scores.done) == len(self.samples.done) and self.samples.whole

    def prepare(self) -> None:
        """Make the files ready to go on: rows that are to be made again go, and scores whose samples are gone."""
        for rows, checkpoint in ((self.samples, self._samples), (self.scores, self._scores)):
            if rows.prepare():
                checkpoint.restart()
        if not self.scores.done <= self.samples.done:
            keep_lines(self.scores.path, lambda record: read_key(record) in self.samples.done)
            self.scores.clear()
            self._scores.restart()
            self.scores.read()

    def begin_scores(self) -> None:
        """Drop all scores: the task is scored from the beginning."""
        remove(self.scores.path)
        self.scores.clear()
        self._scores.restart()

    def add_sample(self, record: Mapping[str, Any], length: int) -> None:
        """A line of so many bytes was appended to the samples."""
        self.samples.note(record, length)
        self._samples.note()

    def add_score(self, record: Mapping[str, Any], length: int) -> None:
        """A line of so many bytes was appended to the scores."""
        self.scores.note(record, length)
        self._scores.note()

    def keep(self) -> None:
        """A step has come to its end: write the checkpoints of large files again."""
        self._samples.keep()
        self._scores.keep()


def _identity(plan: TaskPlan) -> str:
    """What the places of samples and the columns of scores depend on."""
    task = plan.task
    conditions = [condition.name for condition in task.conditions]
    sources = [[metric.source, metric.weight] for metric in task.metrics]
    parts = [task.name, plan.dataset.fingerprint, plan.docs_digest, plan.repeats, conditions, sources]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
