"""The state from which a run is resumed: each task's samples and scores, and what the run has spent so far.

Checkpoints summarise the rows of large files, so that resuming need not read them again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic

import numpy as np

from creval.engine.planning.plan import TaskPlan
from creval.engine.planning.sample_ranks import Ranking
from creval.engine.resuming.row_state import Column, RowState, S
from creval.engine.roles.ledger import UsageTally
from creval.engine.roles.role_models import TARGET
from creval.errors import RunError
from creval.opener import open_plain, remove
from creval.runs.folder import RunFolder
from creval.runs.jsonl import keep_lines, pieces, read_lines, replacing
from creval.runs.record_data import read_key

if TYPE_CHECKING:
    import zipfile

__all__ = ["EVERY", "ResumeState", "Spending", "open_arrays", "write_arrays"]


class Spending:
    """Cost (US dollars) and number of calls of saved samples, of other roles' calls, and of whole attempts."""

    def __init__(self, cost: float = 0.0, calls: int = 0) -> None:
        self._cost = cost
        self._calls = calls

    def saved(self) -> tuple[float, int]:
        """Return it as data from which it can be restored."""
        return self._cost, self._calls

    def join(self, other: Spending) -> None:
        """Add the spending of other samples."""
        self._cost += other._cost
        self._calls += other._calls

    def add_sample(self, record: Mapping[str, Any]) -> None:
        """Add the target's calls of a line of samples/; answers from the cache cost nothing."""
        for call in () if "shared_from" in record else record["calls"]:
            if call["role"] == TARGET:
                reply, lost = call.get("reply"), call.get("lost")
                if reply is not None and not reply.get("cached"):
                    self._cost += reply.get("cost") or 0.0
                    self._calls += 1
                self._cost += (lost.get("cost") or 0.0) if lost else 0.0

    def of_run(self, folder: RunFolder, manifest: Mapping[str, Any]) -> tuple[float, int]:
        """Return the cost and calls that the run has spent, including those of its ledger.

        It is the total of the attempts. A killed attempt has no total, so it is at least the spending of the saved
        samples and calls.
        """
        cost, calls = self._cost, self._calls
        for role in folder.called_roles():
            for call in read_lines(folder.calls(role)):
                if "unreadable" in call or "from" in call or call.get("reply", {}).get("cached"):
                    continue
                cost += sum(call.get(part, {}).get("cost") or 0.0 for part in ("reply", "lost"))
                calls += 1
        totals = [model for attempt in manifest["attempts"] for model in attempt.get("models", {}).values()]
        counted = sum(int(model["calls"] + model["errors"]) for model in totals)
        return max(cost, sum(model["cost"] for model in totals)), max(calls, counted)


def spent_by(folder: RunFolder) -> tuple[float, int]:
    """Return the cost (US dollars) and calls that a run has spent so far, complete or not."""
    spending, manifest = Spending(), folder.read_manifest()
    for task in manifest["tasks"]:
        for record in read_lines(folder.samples(task["task"])):
            spending.add_sample(record)
    return spending.of_run(folder, manifest)


_COSTS = ("costs", "costs_again")


class SampleUsage:
    """The `Summary` of samples: the usage of the target's calls (`usage`) and their cost (`spending`).

    The cost includes samples that are made again.
    """

    def __init__(self) -> None:
        self.spending = Spending()
        self._final, self._redone = UsageTally(), UsageTally()

    @property
    def usage(self) -> UsageTally:
        """The usage of all samples in the file."""
        total = UsageTally()
        total.join(self._final)
        total.join(self._redone)
        return total

    def add(self, record: Mapping[str, Any], stays: bool) -> None:
        """Add a line of samples/."""
        self.spending.add_sample(record)
        (self._final if stays else self._redone).add(record)

    def forget(self) -> None:
        """Subtract the usage of samples that are made again."""
        self._redone = UsageTally()

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]:
        """Return the summary as plain data and arrays."""
        tallies = [tally.saved() for tally in (self._final, self._redone)]
        columns = dict(zip(_COSTS, (costs for _, costs in tallies), strict=True))
        return {"usage": [data for data, _ in tallies], "spending": self.spending.saved()}, columns

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Restore the summary from saved data."""
        self.spending = Spending(*data["spending"])
        self._final, self._redone = (
            UsageTally.restored(saved, columns[name]) for saved, name in zip(data["usage"], _COSTS, strict=True)
        )


_NUMBERS = "uif"
_STORED = 0  # zipfile.ZIP_STORED; a run without checkpoints does not import zipfile


def write_arrays(file: BinaryIO, columns: Mapping[str, Column]) -> None:
    """Write arrays as `numpy.savez` does, without copying them."""
    import zipfile

    with zipfile.ZipFile(file, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, np.lib.format.header_data_from_array_1_0(column))
                if len(column):
                    member.write(column.data.cast("B"))


@contextmanager
def open_arrays(path: Path) -> Iterator[_Arrays]:
    """Open a file of `write_arrays`; each array is read on access.

    Raises UnsafeFileError for anything but a regular file, and the errors of zipfile and numpy for a damaged one.
    """
    import zipfile

    with os.fdopen(open_plain(path), "rb") as file, zipfile.ZipFile(file) as archive:
        yield _Arrays(archive)


class _Arrays(Mapping[str, Column]):
    """The arrays of an open file by name: one-dimensional and uncompressed, so no larger in memory than in the file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def __getitem__(self, name: str) -> Column:
        about = self._archive.getinfo(f"{name}.npy")
        if about.compress_type != _STORED:  # compressed, it could be of any size
            raise ValueError(f"{name} is packed")
        data = self._archive.read(about)
        head = io.BytesIO(data)
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError(f"{name} has another form")
        shape, _, kind = np.lib.format.read_array_header_1_0(head)
        start = head.tell()
        if kind.kind not in _NUMBERS or shape != ((len(data) - start) // kind.itemsize,):
            raise ValueError(f"{name} is not a row of so many numbers")
        return np.frombuffer(data, dtype=kind, offset=start, count=shape[0])

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._archive.namelist())

    def __len__(self) -> int:
        return len(self._archive.namelist())


EVERY = 50_000
"""The number of new lines after which a checkpoint is written; smaller files have none."""

_FORM = 1


class Checkpoint:
    """The checkpoint of one file of rows. If it is lost, the rows are read again.

    It is valid for the first `size` bytes of the file, if their sha256 is unchanged and if `identity`, the plan behind
    the rows, is the same.
    """

    def __init__(self, path: Path, rows: RowState[Any], identity: str) -> None:
        self._path = path
        self._rows = rows
        self._identity = identity
        self._lines = 0  # of the last checkpoint
        self._hashed, self._digest = 0, hashlib.sha256()

    def load(self) -> None:
        """Restore the rows from a valid checkpoint, if there is one, and read the lines after it.

        Raises RunError if a row does not belong to the run.
        """
        if not self._restored():
            self._rows.clear()
            self.restart()
            self._rows.read()
        self.note()

    def restart(self) -> None:
        """Start again after the file was rewritten: the next checkpoint covers all of it."""
        self._lines, self._hashed, self._digest = 0, 0, hashlib.sha256()

    def note(self) -> None:
        """Write a checkpoint if enough lines were added since the last one."""
        if self._rows.lines - self._lines >= EVERY:
            self.save()

    def save_if_grown(self) -> None:
        """Write a checkpoint of a large file if any lines were added since the last one."""
        if self._rows.lines >= EVERY and self._rows.lines != self._lines:
            self.save()

    def save(self) -> None:
        """Write a checkpoint of the rows, unless the disk is full."""
        with contextlib.suppress(RunError, OSError):
            self._hash(self._rows.size)
            about, columns = self._rows.saved()
            about |= {"form": _FORM, "identity": self._identity, "sha256": self._digest.hexdigest()}
            text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
            with replacing(self._path) as file:
                write_arrays(file, {"about": text, **columns})
        self._lines = self._rows.lines

    def _restored(self) -> bool:
        """Restore the rows from the checkpoint and the lines after it; return whether that was possible."""
        try:
            with open_arrays(self._path) as columns:
                about = json.loads(columns["about"].tobytes())
                if not self._belongs(about):
                    return False
                self._rows.restore(about, columns)
            self._lines = self._rows.lines
            self._rows.read()
        except Exception:  # a damaged archive may raise anything; a faulty row is reported when all rows are read
            return False
        return True

    def _belongs(self, about: Mapping[str, Any]) -> bool:
        """Whether a checkpoint belongs to these rows and this file. Raises KeyError, TypeError."""
        if about["form"] != _FORM or about["identity"] != self._identity:
            return False
        self._hash(about["size"])
        return bool(self._hashed == about["size"] and self._digest.hexdigest() == about["sha256"])

    def _hash(self, size: int) -> None:
        """Advance the digest to the first `size` bytes of the file."""
        with os.fdopen(open_plain(self._rows.path), "rb") as file:
            file.seek(self._hashed)
            for piece in pieces(file, size - self._hashed):
                self._digest.update(piece)
                self._hashed += len(piece)


class ResumeState(Generic[S]):
    """The rows of a task's samples and scores, updated while the run continues.

    Nothing is read until `load`. `make` creates the empty summary of scores; `scores` is their file if it is not the
    run's own.
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
        """Read the files. Raises RunError, with file and line, for rows that do not belong to the run."""
        self._samples.load()
        self._scores.load()

    @property
    def complete(self) -> bool:
        """Whether every planned sample exists with its score, and none is to be made again."""
        return self.samples.sound == self.scores.sound == len(self.scores.done) == self.total

    @property
    def samples_scored(self) -> bool:
        """Whether each sample in the file has a score."""
        return len(self.scores.done) == len(self.samples.done) and self.samples.whole

    def prepare(self) -> None:
        """Prepare the files for resuming: remove rows that are to be made again, and scores without a sample."""
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

    def add_sample(self, record: Mapping[str, Any], length: int, rank: int | None = None) -> None:
        """Record that a line of `length` bytes was appended to the samples; `rank` is looked up if it is None."""
        self.samples.note(record, length, rank)
        self._samples.note()

    def add_score(self, record: Mapping[str, Any], length: int) -> None:
        """Record that a line of `length` bytes was appended to the scores."""
        self.scores.note(record, length)
        self._scores.note()

    def save(self) -> None:
        """Write the checkpoints of large files again, at the end of a step."""
        self._samples.save_if_grown()
        self._scores.save_if_grown()


def _identity(plan: TaskPlan) -> str:
    """Return what the ranks of samples and the columns of scores depend on."""
    task = plan.task
    conditions = [condition.name for condition in task.conditions]
    sources = [[metric.source, metric.weight] for metric in task.metrics]
    parts = [task.name, plan.dataset.fingerprint, plan.docs_digest, plan.repeats, conditions, sources]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
