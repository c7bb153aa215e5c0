"""Reads a run folder for reports, analyses and notebooks: typed, lazily, and strict about every row."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from creval.errors import RunError, UnknownNameError, UsageError
from creval.format import counted, html_table, shorten_list
from creval.opener import is_there, read_json
from creval.runs.call_journal import CallJournal
from creval.runs.folder import DoneKeys, RunFolder, check_format_version
from creval.runs.jsonl import numbered_lines
from creval.runs.lock import is_locked
from creval.runs.record_data import read_sample, read_score
from creval.runs.result_metrics import Metrics, data_frame, flat_metric, metrics_table, of_task
from creval.runs.run_commands import resume_command, score_command
from creval.runs.sample_rows import sample_row
from creval.runs.shapes import misshapen
from creval.types.messages import Usage
from creval.types.sample import Sample, SampleKey, ScoreRecord, Status

if TYPE_CHECKING:
    import pandas

    from creval.runs.text_references import RunTexts

__all__ = ["Run", "open_run", "open_runs"]

Row = TypeVar("Row", Sample, ScoreRecord)

_ENDED = ("done", "budget")
_NUMBERS = ("cost", "latency", "attempts")
_PLANNED = ("conditions", "repeats", "planned")  # the keys of a task in the manifest that concern its rows


def open_run(folder: str | Path, as_stored: bool = False) -> Run:
    """Open a run folder for reading; only run.json is read yet.

    If its tasks store docs by reference, samples and scores are read with their texts, which needs the data;
    `as_stored` reads them as stored. Raises RunError if there is no run, or if its run.json is damaged.

    Example:
        run = creval.open_run("runs/mine")
        print(run.model, run.results["status"])
        for sample in run.samples(status="unparsed"):
            print(sample.key.doc, sample.answers)
    """
    return Run(RunFolder.open(Path(folder)), as_stored)


def open_runs(folders: Sequence[str | Path], as_stored: bool = False) -> list[Run]:
    """Open the runs of an analysis: at least one, each named once, each finished.

    Raises UsageError if none is named, RunError if one is not a run, is not finished, or is named twice (also by two
    names).
    """
    if not folders:
        raise UsageError("no run is named", where="RUNS", fix="Name run folders, for example: runs/*")
    places: dict[Path, str] = {}
    for folder in folders:
        place = Path(folder).resolve()
        if place in places:
            first_name = "" if places[place] == str(folder) else f", also as {places[place]}"
            raise RunError(f"the run is named twice{first_name}", where=str(folder), fix="Name each run once.")
        places[place] = str(folder)
    runs = [open_run(folder, as_stored) for folder in folders]
    for run in runs:
        run.need_ended()
    return runs


class Run:
    """A run folder. Files are read on access, samples and scores one at a time.

    Reading all samples or scores of a task raises RunError, with file and line, for a row that is damaged, occurs twice
    or belongs to no sample of the run, and for rows that a finished run has lost. If docs are stored by reference, it
    raises DataError if the data are missing, and RunError if they have changed.
    """

    def __init__(self, files: RunFolder, as_stored: bool = False) -> None:
        self._files = files
        self._as_stored = as_stored
        self.folder = files.path
        self.manifest: Mapping[str, Any] = self._checked_manifest()

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}: {self.model}, {self.status}, {shorten_list(self.tasks)})"

    def _repr_html_(self) -> str:
        """Return a table of the metrics, or the `repr` of a run without metrics."""
        title = f"{self.model}, {self.status} ({self.folder.name})"
        return metrics_table(title, self.results) if self._files.results.is_file() else html_table(repr(self), (), ())

    def __getitem__(self, task: str) -> Metrics:
        """Return the metrics of a task over all conditions, by name. Raises UnknownNameError, RunError."""
        found = of_task(self.results, task)
        if found is None:
            raise UnknownNameError("task", task, self.tasks, where=str(self.folder))
        return found

    def _ipython_key_completions_(self) -> list[str]:
        return self.tasks

    def as_stored(self) -> Run:
        """This run, read as stored: with references if its tasks store docs by reference."""
        return self if self._as_stored else Run(self._files, as_stored=True)

    @property
    def model(self) -> str:
        """The model that answered, as named by the user."""
        return str(self.manifest["roles"]["target"])

    @property
    def tasks(self) -> list[str]:
        """The names of the run's tasks, in their order."""
        return [str(task["task"]) for task in self.manifest["tasks"]]

    @property
    def status(self) -> str:
        """`done`, `budget` (stopped by its limit), `interrupted`, `failed` or `running`.

        A run whose manifest says `running` but which no process is working on was killed: it is `interrupted`.
        """
        status = str(self.manifest["status"])
        return "interrupted" if status == "running" and not is_locked(self.folder) else status

    @property
    def resume_command(self) -> str:
        """The complete command that resumes the run, for messages."""
        return resume_command(self.folder, self.manifest)

    @property
    def score_command(self) -> str:
        """The complete command that scores its saved answers again."""
        return score_command(self.folder, self.manifest)

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """results.json as plain data. Raises RunError if the run is not finished, or if the file is damaged."""
        path = self._files.results
        fix = f"Write it again: {self.score_command}"
        try:
            data = read_json(path)
        except FileNotFoundError as error:
            raise self._unfinished("there are no results") from error
        except (OSError, ValueError, RecursionError) as error:
            raise RunError(f"cannot be read: {error}", where=str(path), fix=fix) from error
        check_format_version(data, path)
        if not isinstance(data, dict) or not _has_tasks(data) or not isinstance(data.get("model"), str):
            raise RunError("is not a results file", where=str(path), fix=fix)
        place = misshapen("results", data)
        if place is not None:
            raise RunError(f"is not a results file: see {place}", where=str(path), fix=fix)
        return data

    def result(self, task: str) -> Mapping[str, Any]:
        """Return the part of `results` about one task. Raises UnknownNameError, RunError."""
        self._task_entry(task)
        for result in self.results["tasks"]:
            if result["task"] == task:
                return dict(result)
        raise RunError(f"there are no results of {task!r}", where=str(self.folder), fix=self._repair_command())

    def need_ended(self) -> None:
        """Raise RunError if the run is not finished, as numbers over it would only cover a part of it."""
        if self.status not in _ENDED:
            raise self._unfinished(f"the run did not finish ({self.status})")
        if not self._files.results.is_file():
            raise self._unfinished("there are no results")

    def samples(self, task: str | None = None, status: Status | str | None = None) -> Iterator[Sample]:
        """Yield the samples of a task (all tasks), in the order in which they ended.

        The status of a sample is its final one: an answer that no parser could read is `unparsed` once it is scored.
        `status` selects samples of that status. Raises UnknownNameError for an unknown task or status.
        """
        selected = _status(status)
        for name in self._names(task):
            path = self._files.scores(name)
            final = {score.key: score for _, score in self._rows(name, path, _score_of)} if is_there(path) else {}
            for _, sample in self._rows(name, self._files.samples(name), _sample_of):
                score = final.get(sample.key)
                final_sample = sample if score is None else replace(sample, status=score.status, reason=score.reason)
                if selected is None or final_sample.status is selected:
                    yield self._sample(final_sample)

    def scores(self, task: str | None = None, status: Status | str | None = None) -> Iterator[ScoreRecord]:
        """Yield the scores of a task (all tasks): one per sample, also for those without a number.

        `status` selects those of that status. Raises UnknownNameError for an unknown task or status.
        """
        selected = _status(status)
        for name in self._names(task):
            for _, score in self._rows(name, self._files.scores(name), _score_of):
                if selected is None or score.status is selected:
                    yield score

    def has_scores(self, task: str) -> bool:
        """Whether a task of the run was scored, at least in part."""
        return is_there(self._files.scores(task))

    def calls(self) -> Iterator[Mapping[str, Any]]:
        """Yield the calls to other roles than the target, as stored in calls/. Raises RunError for a damaged line."""
        journal = CallJournal(self._files, read_only=True)
        try:
            for _, record in journal.lines():
                yield record
        finally:
            journal.close()

    def scored(self, task: str | None = None) -> Iterator[tuple[Sample, ScoreRecord]]:
        """Yield each sample of a task (all tasks) with its score. A score without its sample is a RunError."""
        for name in self._names(task):
            path = self._files.scores(name)
            scores = {score.key: (line, score) for line, score in self._rows(name, path, _score_of)}
            for _, sample in self._rows(name, self._files.samples(name), _sample_of):
                if sample.key in scores:
                    yield self._sample(sample), scores.pop(sample.key)[1]
            for line, score in scores.values():
                raise RunError(
                    f"a score of {_sample_label(score.key)}, of which there is no sample",
                    where=f"{path}:{line}",
                    fix=self._repair_command(),
                )

    def to_rows(self, task: str | None = None) -> list[dict[str, Any]]:
        """Return one flat row per sample: model, task, doc, condition, repeat, status, questions and answers.

        `qualified` distinguishes tasks with the same name (`association/rat`). The other columns are `input`, `target`
        (the doc's right answer), `answer` (as parsed), `output`, the reason, tokens, cost in US dollars, seconds, and
        every score under its name.
        """
        rows = []
        for name in self._names(task):
            scores = {score.key: score for score in self.scores(name)} if self.has_scores(name) else {}
            pairs = ((sample, scores.get(sample.key)) for sample in self.samples(name))
            head = {"model": self.model, "task": name, "qualified": self._qualified(name)}
            rows += [{**head, **sample_row(sample, score)} for sample, score in pairs]
        return rows

    def metric_rows(self, task: str | None = None) -> list[dict[str, Any]]:
        """Return one flat row per metric and condition: model, task, metric, value, interval, n, counts by status.

        `qualified` distinguishes tasks with the same name (`association/rat`).
        """
        return [
            {
                "model": self.model,
                "task": name,
                "qualified": self._qualified(name),
                "metric": metric["name"],
                **flat_metric(metric),
            }
            for name in self._names(task)
            for metric in self.result(name)["metrics"]
        ]

    def to_pandas(self, task: str | None = None, of: Literal["samples", "metrics"] = "samples") -> pandas.DataFrame:
        """Return `to_rows`, or `metric_rows` with `of="metrics"`, as a data frame (needs pandas).

        Example:
            frame = creval.open_run("runs/mine").to_pandas(of="metrics")
            frame.set_index("metric")[["value", "ci_low", "ci_high"]]
        """
        if of not in ("samples", "metrics"):
            raise UnknownNameError("kind of rows", of, ["samples", "metrics"])
        return data_frame(self.to_rows(task) if of == "samples" else self.metric_rows(task))

    @cached_property
    def _texts(self) -> RunTexts:
        from creval.runs.text_references import RunTexts  # imported late: needs tasks and data, unlike most runs

        return RunTexts(self.manifest, self.folder)

    def _sample(self, sample: Sample) -> Sample:
        return sample if self._as_stored or sample.doc_digest is None else self._texts.sample(sample)

    def _checked_manifest(self) -> Mapping[str, Any]:
        data = self._files.read_manifest()
        if not _has_tasks(data, *_PLANNED):
            raise RunError(
                "is not a manifest of a run", where=str(self._files.manifest), fix="Name a run folder that creval made."
            )
        return data

    def _names(self, task: str | None) -> Sequence[str]:
        if task is None:
            return self.tasks
        self._task_entry(task)
        return [task]

    def _qualified(self, task: str) -> str:
        """Return the name that distinguishes a task from another plugin's with the same short name."""
        return str(self._task_entry(task)["qualified"])

    def _task_entry(self, task: str) -> Mapping[str, Any]:
        for entry in self.manifest["tasks"]:
            if entry["task"] == task:
                return dict(entry)
        raise UnknownNameError("task", task, self.tasks, where=str(self.folder), hint=f"It has: {_list(self.tasks)}.")

    def _rows(self, task: str, path: Path, read: Callable[[Mapping[str, Any]], Row]) -> Iterator[tuple[int, Row]]:
        """Yield line number and row, each checked; at the end, check whether a finished run has lost rows."""
        entry = self._task_entry(task)
        conditions = {str(condition["name"]) for condition in entry["conditions"]}
        seen = DoneKeys()
        for line, record in numbered_lines(path):
            try:
                row = read(record)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise self._fault(f"a damaged row ({error!r})", path, line) from error
            key = row.key
            if key.task != task or key.condition not in conditions or not 0 <= key.repeat < int(entry["repeats"]):
                raise self._fault(f"a row of {_sample_label(key)}, which this run does not have", path, line)
            if key in seen:
                raise self._fault(f"a second row of {_sample_label(key)}", path, line)
            seen.add(key)
            yield line, row
        self._check_lost(entry, path, len(seen))

    def _check_lost(self, entry: Mapping[str, Any], path: Path, count: int) -> None:
        planned = int(entry["planned"])
        if count > planned:
            fix = f"Some are another run's; they are named by: {self.resume_command}"
            raise RunError(
                f"{counted(count, 'rows')}, where {counted(planned, 'samples')} were planned", where=str(path), fix=fix
            )
        if self.status not in _ENDED or not self._files.results.is_file():
            return
        expected = planned - int(self.result(str(entry["task"]))["counts"]["skipped"])
        if count < expected:
            raise RunError(
                f"{expected - count} of {expected} rows are lost", where=str(path), fix=self._repair_command()
            )

    def _fault(self, what: str, path: Path, line: int) -> RunError:
        fix = f"Remove the line, then: {self.resume_command}"
        return RunError(what, where=f"{path}:{line}", fix=fix)

    def _repair_command(self) -> str:
        return self._files.to_finish("Repair the run first")

    def _unfinished(self, what: str) -> RunError:
        return RunError(what, where=str(self.folder), fix=self._files.to_finish())


def _has_tasks(data: Mapping[str, Any], *keys: str) -> bool:
    tasks = data.get("tasks")
    return isinstance(tasks, list) and all(isinstance(task, dict) and task.keys() >= {"task", *keys} for task in tasks)


def _status(status: Status | str | None) -> Status | None:
    if status is None:
        return None
    known = [member.value for member in Status]
    if status not in known:
        raise UnknownNameError("status", str(status), known, hint=f"It is one of: {_list(known)}.")
    return Status(status)


def _sample_of(record: Mapping[str, Any]) -> Sample:
    sample = read_sample(record)
    _need_key(sample.key)
    _need("doc", sample.doc, dict)
    _need("answers", sample.answers, list)
    _need("outcome", sample.outcome, dict)
    _need_text("reason", sample.reason)
    for answer in sample.answers:
        _need("an answer", answer, str)
    for call in sample.calls:
        for message in call.messages:
            _need("role", message["role"], str)
        if call.reply_data is not None:
            _need_reply(call.reply_data)
    return sample


def _score_of(record: Mapping[str, Any]) -> ScoreRecord:
    score = read_score(record)
    _need_key(score.key)
    _need("details", score.details, dict)
    _need_text("reason", score.reason)
    _need_text("route", score.route)
    for name, value in score.scores.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{name} is not a finite number")
    return score


def _need_key(key: SampleKey) -> None:
    for name, value in (("task", key.task), ("doc_id", key.doc), ("condition", key.condition)):
        _need(name, value, str)
    if isinstance(key.repeat, bool) or not isinstance(key.repeat, int):
        raise ValueError("repeat is not a whole number")


def _need_text(name: str, value: object) -> None:
    if value is not None:
        _need(name, value, str)


def _need_reply(reply: Mapping[str, Any]) -> None:
    for completion in reply["completions"]:
        _need("text", completion["text"], str)
    for name, number in (*reply.get("usage", {}).items(), *((name, reply.get(name)) for name in _NUMBERS)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise ValueError(f"{name} is not a number")
    Usage(**reply.get("usage", {}))


def _need(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {kind.__name__}")


def _sample_label(key: SampleKey) -> str:
    return f"doc {key.doc!r} of {key.task}, condition {key.condition}, repeat {key.repeat}"


def _list(names: Collection[str]) -> str:
    return ", ".join(names) or "none"
