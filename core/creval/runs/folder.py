"""The run folder: the path of each file, and the finished samples."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from creval.errors import RunError
from creval.opener import UnsafeFileError, read_json, remove
from creval.packed_keys import PackedHashes
from creval.runs.jsonl import Line, disk_error, read_lines, whole_lines, write_json
from creval.runs.lock import LOCK, in_use
from creval.runs.record_data import read_key, read_sample, read_score
from creval.runs.run_commands import resume_command
from creval.runs.shapes import misshapen
from creval.types.sample import Sample, SampleKey, ScoreRecord, Status

__all__ = ["FORMAT_VERSION", "REDO_STATUSES", "DoneKeys", "RunFolder", "check_format_version", "file_name"]

FORMAT_VERSION = 1
"""The version of the format of run.json and results.json that this creval writes (their key `schema`)."""

CALLS = "calls"
_HEAD = re.compile(
    rb'\{"task":"([^"\\]*)","doc_id":"([^"\\]*)","condition":"([^"\\]*)","repeat":([0-9]+),"status":"([a-z]+)",'
)
"""The beginning of lines of samples and scores, unless a name in them is escaped."""
REDO_STATUSES = frozenset({Status.ERRORED.value, Status.SKIPPED.value})
"""The statuses of samples and scores that are made again when the run is resumed."""
_HALF = re.compile(r"\.(run\.json|results\.json|.+\.jsonl|.+\.npz|[0-9a-f]{64}\.\w+)\.[0-9]+")
"""The names of files that replace others once they are complete (`replacing`)."""


class DoneKeys:
    """A set of sample keys as 64-bit hashes, so that a resumed run of a million samples needs little memory."""

    def __init__(self) -> None:
        self._known = PackedHashes()

    def add(self, key: SampleKey) -> None:
        self._known.add(hash(key))

    def __contains__(self, key: SampleKey) -> bool:
        return len(self._known) > 0 and hash(key) in self._known

    def __len__(self) -> int:
        return len(self._known)


class RunFolder:
    """The paths of a run, and access to its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._created: Sequence[Path] = ()
        self._was_empty = False
        self.copies: list[Path] = []  # further files that a new run wrote, removed by `forget`
        self.manifest = path / "run.json"
        self.results = path / "results.json"
        self.batches = path / "batches.jsonl"
        self.media = path / "media"

    @classmethod
    def create(cls, path: Path) -> RunFolder:
        """Create a new run folder. Raises RunError if it already is one."""
        folder = cls(path)
        folder.check_new()
        missing = _missing(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            folder._was_empty = not any(path.iterdir())
        except OSError as error:
            raise disk_error(error, path / "run.json") from error
        folder._created = missing
        return folder

    def check_new(self) -> None:
        """Raise RunError if a run is already here, or none can be; check again once the folder is locked."""
        try:
            exists = self.manifest.exists()
        except OSError as error:  # a name that is too long, a loop of links
            raise disk_error(error, self.manifest) from error
        if exists:
            fix = "Choose another folder with --output."
            with contextlib.suppress(RunError):  # anything but a run, or one of another creval, cannot be resumed
                self.read_manifest()
                fix = f"Choose another folder with --output. {self.to_finish('Or resume this run')}"
            raise RunError("there is already a run", where=str(self.path), fix=fix)

    @classmethod
    def create_default(cls, root: Path, model: str, tasks: Sequence[str], now: str) -> RunFolder:
        """Create a new folder under `root`, named after time, model and tasks."""
        words = f"{now}-{model}-{'+'.join(tasks)}"
        name = re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]
        for number in itertools.count(1):
            path = root / (name if number == 1 else f"{name}-{number}")
            missing = _missing(path)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise disk_error(error, path / "run.json") from error
            folder = cls(path)
            folder._created, folder._was_empty = missing, True
            return folder
        raise AssertionError("unreachable")

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run folder. Raises RunError if there is none."""
        folder = cls(path)
        if not folder.manifest.is_file():
            raise RunError("there is no run (no run.json)", where=str(path), fix=_runs_below(path))
        return folder

    def forget(self, tasks: Sequence[str]) -> None:
        """Remove the files of a new run that ended with an error before it wrote a sample or a call.

        Nothing is removed from a folder that was not empty before the run. Other files are never removed, and a folder
        with such files stays.
        """
        paid_files = [*(self.samples(task) for task in tasks), *(self.calls(role) for role in self.called_roles())]
        if not self._was_empty or any(file.exists() and file.stat().st_size for file in paid_files):
            return
        if any("id" in note for note in read_lines(self.batches)):
            return
        files = [
            self.manifest,
            self.results,
            self.path / LOCK,
            self.batches,
            *paid_files,
            *(self.scores(task) for task in tasks),
            *self.media.glob("*"),
            *self.copies,
        ]
        with contextlib.suppress(OSError, UnsafeFileError):  # it stays, and must not hide the error
            for file in files:
                remove(file)
            inner = {file.parent for file in files} - {self.path} | {self.path / name for name in ("samples", CALLS)}
            for place in sorted(inner, key=lambda place: len(place.parts), reverse=True):
                if place.is_dir() and not place.is_symlink():
                    place.rmdir()
            for folder in self._created:
                folder.rmdir()

    def clear_halves(self) -> None:
        """Remove incomplete files of killed processes. The folder must be locked."""
        places = (self.path, *(self.path / name for name in ("samples", "scores", CALLS)))
        points = (self.checkpoint(place / "any").parent for place in places[1:])
        for file in itertools.chain.from_iterable(place.glob(".*") for place in (*places, *points, self.media)):
            if _HALF.fullmatch(file.name) and not file.is_dir():
                with contextlib.suppress(OSError, UnsafeFileError):
                    remove(file)

    def samples(self, task: str) -> Path:
        """Return the file of a task's samples."""
        return self.path / "samples" / f"{file_name(task)}.jsonl"

    def scores(self, task: str) -> Path:
        """Return the file of a task's scores."""
        return self.path / "scores" / f"{file_name(task)}.jsonl"

    def new_scores(self, task: str) -> Path:
        """Return the file in which a task is scored again, until it replaces `scores`."""
        path = self.scores(task)
        return path.with_name(f"{path.stem}.new.jsonl")

    def checkpoint(self, file: Path) -> Path:
        """Return the checkpoint's path for a file of samples or scores. It may be removed at any time."""
        return self.path / "checkpoints" / file.parent.name / f"{file.stem}.npz"

    def calls(self, role: str) -> Path:
        """Return the file of the calls to a role other than the target."""
        return self.path / CALLS / f"{file_name(role)}.jsonl"

    def called_roles(self) -> list[str]:
        """Return the roles with stored calls, sorted."""
        return sorted(unquote(file.stem) for file in (self.path / CALLS).glob("*.jsonl"))

    def read_manifest(self) -> dict[str, Any]:
        """Read run.json. Raises RunError if it is damaged."""
        try:
            data: dict[str, Any] = read_json(self.manifest)
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"run.json cannot be read: {error}", where=str(self.manifest)) from error
        check_format_version(data, self.manifest)
        place = None if _is_manifest(data) else "the whole"
        place = place or misshapen("run", data)
        if place is not None:
            fix = "Name a run folder that creval made."
            raise RunError(f"is not a manifest of a run: see {place}", where=str(self.manifest), fix=fix)
        return data

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """Write run.json completely or not at all."""
        write_json(self.manifest, data)

    def write_results(self, data: Mapping[str, Any]) -> None:
        """Write results.json completely or not at all."""
        write_json(self.results, data)

    def to_finish(self, words: str = "Finish the run first") -> str:
        """Return how to finish the run: `words` and the command, or to wait if a process is working on it."""
        if in_use(self.path):
            return "Another process is using the run: wait until it ends."
        return f"{words}: {resume_command(self.path)}"

    def read_samples(self, task: str) -> Iterator[Sample]:
        """Yield a task's samples one at a time."""
        for record in read_lines(self.samples(task)):
            yield read_sample(record)

    def sample_lines(self, task: str) -> Iterator[tuple[SampleKey, Line]]:
        """Yield the lines of a task's samples with their keys, without decoding every sample."""
        for line in whole_lines(self.samples(task)):
            yield _head(line)[0], line

    def rows(self, file: Path) -> Iterator[tuple[SampleKey, str, Line]]:
        """Yield key, status and line of every complete row of a file of samples or scores."""
        for line in whole_lines(file):
            yield *_head(line), line

    def read_scores(self, task: str) -> Iterator[ScoreRecord]:
        """Yield a task's scores one at a time."""
        for record in read_lines(self.scores(task)):
            yield read_score(record)

    def score_rows(self, task: str) -> Iterator[dict[str, Any]]:
        """Yield a task's scores one at a time, as plain data."""
        return read_lines(self.scores(task))


def check_format_version(data: Any, path: Path) -> None:
    """Raise RunError if a file of a run has the format of a later creval."""
    form = data.get("schema") if isinstance(data, dict) else None
    if isinstance(form, int) and form > FORMAT_VERSION:
        raise RunError(
            f"the run was made by a newer creval ({data.get('creval', 'form ' + str(form))})",
            where=str(path),
            fix="Update creval: pip install --upgrade creval",
        )


def _is_manifest(data: Any) -> bool:
    """Whether a manifest has the parts that are read before anything else."""
    if not isinstance(data, dict) or not isinstance(data.get("roles"), dict):
        return False
    kinds = (("requested", list), ("tasks", list), ("options", dict), ("status", str))
    return isinstance(data["roles"].get("target"), str) and all(isinstance(data.get(key), kind) for key, kind in kinds)


def _missing(path: Path) -> list[Path]:
    """Return the folders that must be created for `path`, innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def _head(line: Line) -> tuple[SampleKey, str]:
    """Return key and status of a line; of a line in creval's usual form only the beginning is read."""
    head = _HEAD.match(line.text)
    if head is not None and line.text.endswith(b"}\n"):
        task, doc, condition, repeat, status = head.groups()
        return SampleKey(task.decode(), doc.decode(), condition.decode(), int(repeat)), status.decode()
    record = line.record()
    try:
        return read_key(record), record["status"]
    except KeyError as error:
        fix = f"Remove the line, then: {resume_command(line.path.parent.parent)}"
        raise RunError(f"a row without {error}", where=f"{line.path}:{line.number}", fix=fix) from error


def file_name(task: str) -> str:
    """Return a task's name as a file name, without separators."""
    return quote(task, safe="-_.@+=,")


def _runs_below(path: Path) -> str:
    """Suggest run folders in place of a folder that is not a run: up to three directly below it."""
    below = sorted(entry.parent.name for entry in path.glob("*/run.json"))
    if not below:
        return "Name a run folder, e.g. runs/..."
    return f"It contains runs; name one: {', '.join(str(path / name) for name in below[:3])}{' ...' * (len(below) > 3)}"
