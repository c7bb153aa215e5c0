"""Scores of run folders: one row per model, one column per metric.

`results.json` of a run contains the name of the model and the metrics of each task. The column of a metric is named:

- after the metric, if that is named after its task (`dat`, `cdat_n`, `drat[embedded/minilm]`);
- after the task, if it is the primary metric under another name (`drat` of task `drat_k2`);
- else `task.metric`.

Generation settings, conditions and data that the user overrode follow in brackets (`dat[temperature=0.2]`). The label
of a task's variant is kept (`drat@strict`), the plugin before its name is not (`association.drat`). Metrics over single
conditions and metrics without a value are left out. The RAT's share is converted to per cent and the CDAT-A to the
shifted scale, as in Table 3; this does not change correlations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from creval.plugin import DataError, Run, RunError, open_runs
from creval_validity.tables.aliases import Aliases
from creval_validity.tables.catalogue import catalogue
from creval_validity.tables.score_table import ScoreTable

__all__ = ["Repeated", "RunScores", "column_name", "read_runs"]

Repeated = Literal["error", "mean", "last"]


@dataclass(frozen=True, slots=True)
class RunScores:
    """Scores of runs, the columns that are a task's primary metric, and notes for the reader."""

    table: ScoreTable
    primary: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Score:
    """One metric of one run."""

    model: str
    column: str
    value: float
    primary: bool
    run: Path
    made: str  # hash of the task and fingerprint of its data


def column_name(task: str, metric: str, primary: bool) -> str:
    """Return the column of a metric (see the module's rules)."""
    bare, bracket, resource = metric.partition("[")
    name, at, label = task.partition("@")
    short = name.rpartition(".")[-1]
    if bare != short and not bare.startswith(f"{short}_"):
        bare = short if primary else f"{short}.{bare}"
    return f"{bare}{at}{label}{bracket}{resource}"


def read_runs(folders: Sequence[Path], names: Aliases, repeated: Repeated, mixed_tasks: bool) -> RunScores:
    """Read run folders.

    `repeated`: several runs of one model on one metric are an error, are averaged, or the last named one counts.
    Raises RunError if a folder has no readable results or is named twice, DataError if one column has values from
    different versions of its task or data (unless `mixed_tasks`) or a model occurs twice.
    """
    scores: list[_Score] = []
    notes: list[str] = []
    for run in open_runs(folders):
        folder, results = run.folder, run.results
        found = list(_scores(run, names))
        notes += _incomplete(folder, results)
        if not found:
            notes.append(f"{folder} contains no metric with a value")
        scores += found
    notes += _same_task(scores, mixed_tasks)
    cells: dict[str, dict[str, float]] = {}
    for (model, column), same in _grouped(scores).items():
        cells.setdefault(model, {})[column] = _single_value(model, column, same, repeated)
    if not cells:
        fix = "Name runs with scores; creval report RUN shows what is there."
        raise RunError("the runs contain no metric with a value", where=str(folders[0]), fix=fix)
    primary = dict.fromkeys(score.column for score in scores if score.primary)
    return RunScores(ScoreTable.from_cells(cells), tuple(primary), tuple(notes))


def _scores(run: Run, names: Aliases) -> Iterator[_Score]:
    folder, results = run.folder, run.results
    try:
        model = names.canonical(results["model"])
        for task in results["tasks"]:
            made = f"{task['hash']} {task['dataset']}"
            for metric in task["metrics"]:
                value = metric["value"]
                if metric["condition"] is not None or value is None:
                    continue
                column = _marked(column_name(task["task"], metric["name"], metric["primary"]), task)
                yield _Score(model, column, _on_shipped_scale(column, float(value)), metric["primary"], folder, made)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RunError(
            f"is not a results file of creval: {error!r}",
            where=str(folder / "results.json"),
            fix=f"Write it again: {run.score_command}",
        ) from error


def _marked(column: str, task: Mapping[str, Any]) -> str:
    """Add the user's overrides to the column name, so that the number is not mixed with those of the plain task."""
    marks = [f"{name}={json.dumps(value)}" for name, value in (task.get("generation_overrides") or {}).items()]
    marks += [f"{name}={json.dumps(values)}" for name, values in (task.get("condition_overrides") or {}).items()]
    marks += [f"{name}={json.dumps(value)}" for name, value in (task.get("prompt_overrides") or {}).items()]
    marks += [f"data={task['replaced_data']}"] if task.get("replaced_data") else []
    return f"{column}[{', '.join(marks)}]" if marks else column


def _on_shipped_scale(column: str, value: float) -> float:
    """Convert the RAT's share to per cent and the CDAT-A's plain scale to the shifted one, as in Table 3."""
    known = catalogue().get(column)
    return known.of_run.shipped(value) if known and known.of_run else value


def _incomplete(folder: Path, results: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes if a run is incomplete, or if samples failed for reasons other than the model's answer."""
    if results.get("status") != "done":
        yield f"{folder} did not finish ({results.get('status')})"
    for task in results["tasks"]:
        counts = task["counts"]
        lost = int(counts["errored"]) + int(counts["skipped"])
        if lost:
            yield f"{folder}: {lost} of {task['planned']} samples of {task['task']} errored or were skipped"


def _grouped(scores: Sequence[_Score]) -> dict[tuple[str, str], list[_Score]]:
    groups: dict[tuple[str, str], list[_Score]] = {}
    for score in scores:
        groups.setdefault((score.model, score.column), []).append(score)
    return groups


def _single_value(model: str, column: str, same: Sequence[_Score], repeated: Repeated) -> float:
    if len(same) == 1 or repeated == "last":
        return same[-1].value
    if repeated == "mean":
        return math.fsum(score.value for score in same) / len(same)
    where = ", ".join(str(score.run) for score in same)
    raise DataError(
        f"{model} has {len(same)} values of {column}",
        where=where,
        fix="Choose with --repeated mean or --repeated last, or name one of the runs.",
    )


def _same_task(scores: Sequence[_Score], allowed: bool) -> list[str]:
    """Refuse (or note) a column whose values come from different versions of its task."""
    notes = []
    for column in dict.fromkeys(score.column for score in scores):
        made = {score.made: score.run for score in scores if score.column == column}
        if len(made) < 2:
            continue
        where = ", ".join(str(run) for run in made.values())
        if not allowed:
            raise DataError(
                f"{column} was made with {len(made)} different versions of its task or data",
                where=where,
                fix="Score the runs again with one version (creval score RUN), or allow it with --mixed-tasks.",
            )
        notes.append(f"{column} comes from {len(made)} different versions of its task or data ({where})")
    return notes
