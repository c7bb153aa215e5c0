"""Progress of unfinished runs, read incrementally from their folders."""

from __future__ import annotations

import math
import os
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, Run, open_run
from creval.plugin.page import (
    SWEEP_FILE,
    Line,
    RunFolder,
    open_plain,
    plain,
    read_bytes,
    read_sample,
    read_score,
    read_yaml_text,
    run_names,
    whole_lines,
    without_leftovers,
)
from creval_page.page_samples import cut
from creval_page.run_search import Listed, find_runs
from creval_page.sample_views import Seen, key_writer
from creval_page.short_names import short_names

__all__ = ["ENDED", "LiveRuns"]

ENDED = ("done", "budget")
_SHOWN = 60  # samples that the page lists, and the most kept per run
_ERRORS = 20
_WINDOW = 60.0  # seconds over which the rate is computed
_SECONDS = 1.0  # seconds of reading before the response; the rest is read at the next request
_FAULTS = (CrevalError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError, OSError, RecursionError)


class _ReplacedFileError(Exception):
    """A followed file was rewritten, so that all counts must start again."""


@dataclass(slots=True)
class _Tail:
    """The position at which to continue reading a growing file."""

    path: Path
    start: int = 0
    lines: int = 0
    inode: int = 0

    def new_lines(self) -> Iterator[Line]:
        """Yield the lines since the last call. Raises _ReplacedFileError, RunError, OSError."""
        try:
            descriptor = open_plain(self.path)
        except FileNotFoundError:
            if self.start:
                raise _ReplacedFileError from None
            return
        info = os.fstat(descriptor)
        os.close(descriptor)
        if info.st_size < self.start or self.inode not in (0, info.st_ino):
            raise _ReplacedFileError
        self.inode = info.st_ino
        if info.st_size == self.start:
            return
        for line in whole_lines(self.path, self.start, self.lines):
            self.start, self.lines = line.start + len(line.text), line.number
            yield line


@dataclass(slots=True)
class _Counts:
    """Counts of a run: samples and scores by status, spend, calls of roles, batches, and the last samples."""

    samples: Counter[str] = field(default_factory=Counter)
    scores: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    unpriced: int = 0
    roles: dict[str, list[float]] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    answered: int = 0
    last: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    errors: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=_ERRORS))
    history: deque[tuple[float, int, int]] = field(default_factory=deque)


class _WatchedRun:
    """One run folder."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._write = key_writer(run)
        self._files = RunFolder(run.folder)
        self._person = run.model.startswith("person/")
        self.behind = True
        self._restart()

    def _restart(self) -> None:
        self.fault: str | None = None
        self.counts = _Counts()
        self._tails: dict[tuple[str, str], _Tail] = {}

    def refresh(self, end: float) -> None:
        """Read new data until the time `end`."""
        try:
            self.behind = not self._read(end)
        except _ReplacedFileError:
            self._restart()
            self.behind = True
        except _FAULTS as error:
            self.fault = " ".join(str(error).split())[:500]
            self.behind = False
        if not self.behind:
            now, counts = time.monotonic(), self.counts
            counts.history.append((now, counts.samples.total(), counts.scores.total()))
            while counts.history[0][0] < now - _WINDOW:
                counts.history.popleft()

    def _read(self, end: float) -> bool:
        """Read new data, and return whether all is read."""
        files = [("sample", task, self._files.samples(task)) for task in self.run.tasks]
        files += [("score", task, self._files.scores(task)) for task in self.run.tasks]
        files += [("call", role, self._files.calls(role)) for role in self._files.called_roles()]
        files += [("batch", "", self._files.batches)]
        take = {
            "sample": self._take_sample,
            "score": self._take_score,
            "call": self._take_call,
            "batch": self._take_batch,
        }
        for kind, name, path in files:
            for line in self._tails.setdefault((kind, name), _Tail(path)).new_lines():
                try:
                    take[kind](name, line.record())
                except _FAULTS as error:
                    where = f"{path.name}:{line.number}"
                    self.fault = f"a damaged line ({where}): {' '.join(str(error).split())}"[:500]
                if time.monotonic() > end:
                    return False
        return True

    def _take_sample(self, task: str, record: Mapping[str, Any]) -> None:
        sample = read_sample(record)
        info = Seen(self._write(sample.key), sample, None).to_row()
        self.counts.samples[sample.status.value] += 1
        replies = [call.reply_data for call in sample.calls if call.reply_data]
        self.counts.cost += sum(_number(reply.get("cost")) for reply in replies)
        self.counts.unpriced += sum(reply.get("cost") is None for reply in replies)
        tokens = [int(_number(info["input_tokens"])), int(_number(info["output_tokens"]))]
        row = {
            "key": cut(info["key"]),
            "status": sample.status.value,
            "at": cut(sample.started),
            "input": cut(info["input"]),
            "target": None if self._person else cut(info["target"]),
            "answer": None,
            "output": cut(info["output"]),
            "tokens": tokens if any(tokens) else None,
            "seconds": round(_number(info["seconds"]), 2),
            "reason": cut(sample.reason, 300),
        }
        self.counts.last[tuple(sample.key)] = row
        if len(self.counts.last) > _SHOWN:
            del self.counts.last[next(iter(self.counts.last))]
        if sample.status.value == "errored":
            self.counts.errors.append(row)

    def _take_score(self, task: str, record: Mapping[str, Any]) -> None:
        score = read_score(record)
        self.counts.scores[score.status.value] += 1
        row = self.counts.last.get(tuple(score.key))
        if row is not None:
            scores = {cut(name): _number(value) for name, value in list(score.scores.items())[:3]}
            row.update(status=score.status.value, answer=cut(score.value), scores=scores)
            row["reason"] = cut(score.reason, 300) or row["reason"]
        if score.status.value == "errored" and (row is None or row not in self.counts.errors):
            own = {"key": cut(self._write(score.key)), "status": "errored", "at": "", "reason": cut(score.reason, 300)}
            self.counts.errors.append(row or own)

    def _take_call(self, role: str, record: Mapping[str, Any]) -> None:
        reply = record.get("reply") or {}
        done = self.counts.roles.setdefault(role, [0, 0.0])
        done[0] += 1
        done[1] += _number(reply.get("cost"))

    def _take_batch(self, _: str, record: Mapping[str, Any]) -> None:
        batches = self.counts.batches
        if "requests" in record:
            batches[str(record["batch"])] = len(record["requests"])
        elif "ended" in record:
            batches.pop(str(record["batch"]), None)
        elif "answer" in record:
            self.counts.answered += 1

    def data(self, listed: Listed) -> dict[str, Any]:
        """Return the run's data for the page."""
        counts = self.counts
        made, scored = counts.samples.total(), counts.scores.total()
        rate = self._rate(made < listed.planned)
        rest = listed.planned - (made if made < listed.planned else scored)
        going = listed.status == "running"
        resumable = listed.status in ("interrupted", "failed", "detached")
        return {
            "model": self.run.model,
            "folder": listed.folder.name,
            "shard": cut((self.run.manifest.get("options") or {}).get("shard")),
            "status": listed.status,
            "planned": listed.planned,
            "made": made,
            "scored": scored,
            "counts": dict(counts.scores if scored >= made else counts.samples),
            "cost": counts.cost + sum(cost for _, cost in counts.roles.values()),
            "unpriced": counts.unpriced,
            "roles": {role: [int(calls), cost] for role, (calls, cost) in counts.roles.items()},
            "rate": rate if going else None,
            "left": rest / rate if going and rate and rest > 0 else None,
            "batches": [len(counts.batches), sum(counts.batches.values())] if counts.batches else None,
            "behind": self.behind,
            "fault": self.fault,
            "resume": self.run.resume_command if resumable else None,
        }

    def _rate(self, making: bool) -> float | None:
        """Return samples (or scores, once all samples exist) per second over the last minute; None if unknown."""
        if len(self.counts.history) < 2:
            return None
        (then, made, scored), (now, made_now, scored_now) = self.counts.history[0], self.counts.history[-1]
        done = made_now - made if making else scored_now - scored
        return done / (now - then) if done > 0 and now > then else None


class LiveRuns:
    """The runs in and below folders: unfinished, not yet started, or another user's.

    Files are opened like those of run folders: no links, no special files. An unreadable folder is reported with its
    error, and does not delay the others.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        self.places = without_leftovers(places)
        self._watched: dict[Path, _WatchedRun] = {}

    def finished(self) -> list[Path]:
        """Return the folders of the finished runs."""
        return [run.folder for run in find_runs(self.places) if run.status in ENDED and run.fault is None]

    def state(self) -> dict[str, Any]:
        """Read new data and return everything on the page, as plain data."""
        listed = find_runs(self.places)
        end = time.monotonic() + _SECONDS
        info, samples, errors = [], [], []
        for number, one in enumerate(listed):
            data = self._refreshed(one, end)
            info.append(data)
            watched = self._watched.get(one.folder)
            if watched is not None:
                samples += [{"run": number, **row} for row in watched.counts.last.values()]
                errors += [{"run": number, **row} for row in watched.counts.errors]
        names = [f"{one['model']} · {one['folder']}" if _shared(info, one) else one["model"] for one in info]
        for data, name, short in zip(info, names, short_names(names), strict=True):
            data.update(name=name, short=short)
        waiting = [name for place in self.places for name in _waiting(place, listed)]
        over = bool(listed) and not waiting and all(one.status in ENDED for one in listed)
        latest = sorted(samples, key=lambda row: str(row["at"]), reverse=True)[:_SHOWN]
        return {"runs": info, "waiting": waiting, "samples": latest, "errors": errors[-_ERRORS:], "ended": over}

    def _refreshed(self, one: Listed, end: float) -> dict[str, Any]:
        if one.fault is None:
            try:
                run = open_run(one.folder, as_stored=True)
                watched = self._watched.setdefault(one.folder, _WatchedRun(run))
                watched.run = run
                watched.refresh(end)
                return watched.data(one)
            except _FAULTS as error:
                return _unreadable(one, " ".join(str(error).split())[:500])
        return _unreadable(one, one.fault[:500])


def _unreadable(one: Listed, fault: str) -> dict[str, Any]:
    nothing = {"planned": 0, "made": 0, "scored": 0, "cost": 0.0, "unpriced": 0, "counts": {}, "roles": {}}
    empty = dict.fromkeys(("shard", "rate", "left", "batches", "resume"))
    folder = one.folder.name
    return {
        "model": folder,
        "folder": folder,
        "status": "unreadable",
        "behind": False,
        "fault": fault,
        **nothing,
        **empty,
    }


def _shared(info: Sequence[dict[str, Any]], one: dict[str, Any]) -> bool:
    return len([each for each in info if each["model"] == one["model"]]) > 1


def _waiting(place: Path, listed: Sequence[Listed]) -> list[str]:
    """Return the models of a sweep whose run has not started."""
    file = place / SWEEP_FILE
    try:
        root = read_yaml_text(read_bytes(file, 1_000_000).decode("utf-8"), file).root
        stated = (plain(root) if root is not None else {}).get("models", [])
        models = [(each, "") if isinstance(each, str) else (each["model"], each.get("as") or "") for each in stated]
        names = run_names(models)
    except _FAULTS:
        return []
    begun = {run.folder.name for run in listed if run.folder.parent == place}
    return [str(cut(model)) for (model, _), name in zip(models, names, strict=True) if name not in begun]


def _number(value: Any) -> float:
    """Return a finite number unchanged; 0 for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return float(value)
