"""The state of a task in a run folder: its samples and their scores.

Checkpoints: what the rows of a large file say, so that resuming its run need not read them again.

What a run has used up already when it is resumed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Generic

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

__all__ = ["EVERY", "ResumeState", "Spending", "open_arrays", "write_arrays"]


class Spending:
    """Cost (US dollars) and calls of saved samples; calls of other roles and each attempt's totals are added."""

    def __init__(self, cost: float = 0.0, calls: int = 0) -> None:
        self._cost = cost
        self._calls = calls

    def saved(self) -> tuple[float, int]:
        """Return the data from which it can be restored."""
        return self._cost, self._calls

    def join(self, other: Spending) -> None:
        """Add what other samples took."""
        self._cost += other._cost
        self._calls += other._calls

    def add_sample(self, record: Mapping[str, Any]) -> None:
        """Add the target's calls of a line of samples/; an answer from the cache cost nothing."""
        for call in () if "shared_from" in record else record["calls"]:
            if call["role"] == TARGET:
                reply, lost = call.get("reply"), call.get("lost")
                if reply is not None and not reply.get("cached"):
                    self._cost += reply.get("cost") or 0.0
                    self._calls += 1
                self._cost += (lost.get("cost") or 0.0) if lost else 0.0

    def of_run(self, folder: RunFolder, manifest: Mapping[str, Any]) -> tuple[float, int]:
        """Return the cost and calls that the run has used up, the calls of its ledger included.

        By the attempts' own totals; a killed attempt has none, so at least what the saved samples and calls took.
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
    """Return the cost (US dollars) and calls that a run has used up so far, whole or not."""
    spending, manifest = Spending(), folder.read_manifest()
    for task in manifest["tasks"]:
        for record in read_lines(folder.samples(task["task"])):
            spending.add_sample(record)
    return spending.of_run(folder, manifest)


_COSTS = ("costs", "costs_again")


class SampleUsage:
    """The `Summary` of samples: what the target's calls took (`usage`), and what was paid for them (`spending`).

    The cost of samples that are made again counts too.
    """

    def __init__(self) -> None:
        self.spending = Spending()
        self._stays, self._again = UsageTally(), UsageTally()

    @property
    def usage(self) -> UsageTally:
        """What all samples took that are there."""
        whole = UsageTally()
        whole.join(self._stays)
        whole.join(self._again)
        return whole

    def add(self, record: Mapping[str, Any], stays: bool) -> None:
        """Add a line of samples/."""
        self.spending.add_sample(record)
        (self._stays if stays else self._again).add(record)

    def forget(self) -> None:
        """Subtract the usage of samples that are made again."""
        self._again = UsageTally()

    def saved(self) -> tuple[Mapping[str, Any], dict[str, Column]]:
        """Return it as plain data and arrays."""
        both = [each.saved() for each in (self._stays, self._again)]
        columns = dict(zip(_COSTS, (costs for _, costs in both), strict=True))
        return {"usage": [data for data, _ in both], "spending": self.spending.saved()}, columns

    def restore(self, data: Mapping[str, Any], columns: Mapping[str, Column]) -> None:
        """Become what was saved."""
        self.spending = Spending(*data["spending"])
        self._stays, self._again = (
            UsageTally.restored(saved, columns[name]) for saved, name in zip(data["usage"], _COSTS, strict=True)
        )


_NUMBERS = "uif"


def write_arrays(file: BinaryIO, columns: Mapping[str, Column]) -> None:
    """Write what `numpy.savez` does, without a copy of any array."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, column in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, np.lib.format.header_data_from_array_1_0(column))
                if len(column):
                    member.write(column.data.cast("B"))


@contextmanager
def open_arrays(path: Path) -> Iterator[_Arrays]:
    """Open such a file; each array is read when it is asked for.

    Raises StrangeFileError for what is no plain file, and whatever zipfile and numpy raise for one that is damaged.
    """
    with os.fdopen(open_plain(path), "rb") as file, zipfile.ZipFile(file) as archive:
        yield _Arrays(archive)


class _Arrays(Mapping[str, Column]):
    """The arrays of an open file by name: rows of numbers, each of which takes as much memory as room in the file."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def __getitem__(self, name: str) -> Column:
        about = self._archive.getinfo(f"{name}.npy")
        if about.compress_type != zipfile.ZIP_STORED:  # it could be of any size
            raise ValueError(f"{name} is packed")
        data = self._archive.read(about)
        head = io.BytesIO(data)
        if np.lib.format.read_magic(head) != (1, 0):
            raise ValueError(f"{name} has another form")
        shape, _, kind = np.lib.format.read_array_header_1_0(head)
        start = head.tell()
        if kind.kind not in _NUMBERS or shape != ((len(data) - start) // kind.itemsize,):
            raise ValueError(f"{name} is no row of so many numbers")
        return np.frombuffer(data, dtype=kind, offset=start, count=shape[0])

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix(".npy") for name in self._archive.namelist())

    def __len__(self) -> int:
        return len(self._archive.namelist())


EVERY = 50_000

"""A checkpoint is written after so many further lines; smaller files have none."""

_FORM = 1


class Checkpoint:
    """The checkpoint of one file of rows. It may be lost at any time: then the rows are read.

    It holds for the file as it was, which its sha256 says: what it says of the first `size` bytes is taken only where
    these are the same bytes, and where `identity`, what the rows were planned by, is the same.
    """

    def __init__(self, path: Path, rows: RowState[Any], identity: str) -> None:
        self._path = path
        self._rows = rows
        self._identity = identity
        self._lines = 0  # of the file that the last checkpoint speaks of
        self._hashed, self._digest = 0, hashlib.sha256()

    def load(self) -> None:
        """Let the rows be what the checkpoint says, where there is one that holds, and read what came after it.

        Raises RunError where a row that is read is none of the run's.
        """
        if not self._restored():
            self._rows.clear()
            self.restart()
            self._rows.read()
        self.note()

    def restart(self) -> None:
        """The file was rewritten: the next checkpoint speaks of all of it."""
        self._lines, self._hashed, self._digest = 0, 0, hashlib.sha256()

    def note(self) -> None:
        """Write a checkpoint where enough lines came since the last one."""
        if self._rows.lines - self._lines >= EVERY:
            self.save()

    def keep(self) -> None:
        """Write a checkpoint of a large file where any lines came since the last one."""
        if self._rows.lines >= EVERY and self._rows.lines != self._lines:
            self.save()

    def save(self) -> None:
        """Write a checkpoint of the rows; none if the disk is full."""
        with contextlib.suppress(RunError, OSError):
            self._hash(self._rows.size)
            about, columns = self._rows.saved()
            about |= {"form": _FORM, "identity": self._identity, "sha256": self._digest.hexdigest()}
            text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
            with replacing(self._path) as file:
                write_arrays(file, {"about": text, **columns})
        self._lines = self._rows.lines

    def _restored(self) -> bool:
        """Whether the rows have become what the checkpoint says, and what came after it."""
        try:
            with open_arrays(self._path) as columns:
                about = json.loads(columns["about"].tobytes())
                if not self._same(about):
                    return False
                self._rows.restore(about, columns)
            self._lines = self._rows.lines
            self._rows.read()
        except Exception:  # a damaged archive may raise anything; what is wrong with a row shows when all are read
            return False
        return True

    def _same(self, about: Mapping[str, Any]) -> bool:
        """Whether a checkpoint is of these rows and of this file. Raises KeyError, TypeError."""
        if about["form"] != _FORM or about["identity"] != self._identity:
            return False
        self._hash(about["size"])
        return bool(self._hashed == about["size"] and self._digest.hexdigest() == about["sha256"])

    def _hash(self, size: int) -> None:
        """Bring the digest to the first `size` bytes of the file."""
        with os.fdopen(open_plain(self._rows.path), "rb") as file:
            file.seek(self._hashed)
            for piece in pieces(file, size - self._hashed):
                self._digest.update(piece)
                self._hashed += len(piece)


class ResumeState(Generic[S]):
    """The rows of a task's samples and scores, updated while the run continues.

    Nothing is read until `load`. `make` makes the empty summary of scores, `scores` is the file where these do not
    are in the run's own.
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
