"""The saved rows of a run that is gone on with: whether they are its own, and what its samples took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.engine.planning.ranking import DoneRanks, Ranking
from creval.engine.resuming.spending import Spending
from creval.engine.roles.usage import UsageTally
from creval.errors import RunError
from creval.runs.codec import read_key
from creval.runs.commands import resume_command
from creval.runs.folder import REDO, RunFolder
from creval.runs.jsonl import Line, whole_lines

__all__ = ["Kept", "check_rows"]


@dataclass(slots=True)
class Kept:
    """The samples of a task that stay when its run is gone on with: the number of their lines, and what they took.

    They are the first lines of the file once `RunFolder.prepare_samples` has taken the others out. `samples` and
    `scores` are the keys of all rows where every one of them stays; None where the file has yet to be gone through.
    `size` is that of the file of samples, in bytes, and `tally` what was made of its scores on the way.
    """

    lines: int = 0
    usage: UsageTally = field(default_factory=UsageTally)
    samples: DoneRanks | None = None
    scores: DoneRanks | None = None
    size: int = -1
    tally: Any = None

    def settled(self, done: object, samples: Path) -> bool:
        """Whether each sample of a file is among the scores `done`, and none came since it was looked at."""
        if self.samples is None or self.scores is None or done is not self.scores:
            return False
        return len(self.scores) == len(self.samples) and samples.stat().st_size == self.size

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a line of samples/, unless its sample is to be made again."""
        if record["status"] not in REDO:
            self.lines += 1
            self.usage.add(record)


def check_rows(
    folder: RunFolder, plan: TaskPlan, spending: Spending, scored: Callable[[Mapping[str, Any]], None] | None = None
) -> Kept:
    """Look at the samples and scores of a task: every row is of a sample that was planned, and stands there once.

    What the samples took is counted on the way, and `scored` is given each line of scores/, since reading is what
    takes the time; where a score goes, what was made of them so far does not hold, which `Kept.scores` says.
    A torn last line, which a killed run leaves, is no fault. Raises RunError with file and line.
    """
    kept = Kept()

    def count(record: Mapping[str, Any]) -> None:
        spending.add_sample(record)
        kept.add(record)

    samples, scores = folder.samples(plan.task.name), folder.scores(plan.task.name)
    if samples.exists() or scores.exists():
        ranking = Ranking(plan)
        kept.samples = _check(samples, ranking, count)
        kept.scores = _check(scores, ranking, scored or (lambda record: None))
        kept.size = samples.stat().st_size if samples.exists() else 0
        if kept.samples is None or not (kept.scores is None or kept.scores <= kept.samples):
            kept.scores = None  # the score of a sample that is gone goes too
    return kept


def _check(file: Path, ranking: Ranking, count: Callable[[Mapping[str, Any]], None]) -> DoneRanks | None:
    """Check the rows of a file. Returns their keys, or None where one of them is to be made again."""
    seen, redo = DoneRanks(ranking), False
    for line in whole_lines(file):
        record = line.quick()  # it is looked at, and not kept
        try:
            key = read_key(record)
            rank = ranking.of(key)
            redo = redo or record["status"] in REDO
            new = rank is not None and seen.add(rank)
            if new:
                count(record)
        except (KeyError, TypeError, AttributeError) as error:
            what = f"the row is no {file.parent.name.removesuffix('s')}: {error!r}"
            raise _fault(what, line) from error
        if not new:
            why = "is not of this run" if rank is None else "stands there twice"
            raise _fault(f"the doc {key.doc!r} ({key.condition}, repeat {key.repeat}) {why}", line)
    return None if redo else seen


def _fault(what: str, line: Line) -> RunError:
    cure = f"Remove the line, then: {resume_command(line.path.parent.parent)}"
    return RunError(what, where=f"{line.path}:{line.number}", cure=cure)
