"""Models and their metrics, for figures of several runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import Run, RunError, UnknownNameError, UsageError
from creval.plugin.plots import MetricChoice, RunResult, chosen, find_baselines, load_result
from creval_compare.model_table import Column, ModelRow, frame_value, headings, model_rows

__all__ = ["Board", "Source", "board", "folder_of", "left_out", "load_results", "no_metric", "one_task", "short_names"]

Source = str | Path | Run | RunResult
"""A run: its folder, or the result of `creval.open_run` and `creval.run`."""


@dataclass(frozen=True, slots=True)
class Board:
    """Models as rows and metrics as columns. `frame`: floor and ceiling of a column, if known."""

    rows: Sequence[ModelRow]
    names: Sequence[str]
    columns: Sequence[Column]
    heads: Sequence[str]
    frame: Mapping[tuple[Column, str], float]

    def metric(self, row: ModelRow, column: Column) -> Mapping[str, Any] | None:
        """Return a model's metric; None if it has no value."""
        if column not in row.cells:
            return None
        metric = row.cells[column][1]
        return metric if metric["value"] is not None else None


def folder_of(run: Source) -> Path:
    """Return the folder of a run."""
    return Path(run) if isinstance(run, str | Path) else Path(run.folder)


def load_results(runs: Sequence[Source]) -> list[RunResult]:
    """Read the results of runs, each once. Raises RunError."""
    folders = dict.fromkeys(map(folder_of, runs))
    if not folders:
        raise RunError("there is no run to plot", fix="Name run folders.")
    return [load_result(folder) for folder in folders]


def no_metric(where: str, fix: str = "Name others.") -> RunError:
    """Return the error for runs without anything to draw."""
    return RunError("the runs have nothing to plot", where=where, fix=fix)


def one_task(tasks: Sequence[str], task: str | None, where: str) -> str:
    """Return the requested task, or the only one. Raises UsageError, UnknownNameError."""
    if task is None and len(tasks) == 1:
        return tasks[0]
    if task is None:
        raise UsageError(f"there are several tasks: {', '.join(tasks)}", where=where, fix="Name one of them (--task).")
    if task not in tasks:
        raise UnknownNameError("task", task, tasks, where=where)
    return task


def left_out(names: Sequence[str], why: str) -> None:
    """Warn that models or runs are not in a figure; `creval plot` prints it."""
    if names:
        warnings.warn(f"left out because {why}: {', '.join(dict.fromkeys(names))}", UserWarning, stacklevel=3)


def board(
    runs: Sequence[Source], tasks: Sequence[str], metrics: Sequence[str], baselines: str | Path | None = None
) -> Board:
    """Read the metrics over all conditions: the primary ones, or those named. Floor and ceiling are not rows.

    `baselines` is a folder of runs; by default the folder of the first run. If all runs are baselines, they
    are the rows. Raises RunError, UnknownNameError.
    """
    results, _ = chosen(load_results(runs), MetricChoice(tasks, metrics, overall=True))
    every = model_rows(results)
    rows = [row for row in every if not row.baseline] or every
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    if not columns:
        raise no_metric(", ".join(tasks) or "metrics")
    valued = [row for row in rows if any(metric["value"] is not None for _, metric in row.cells.values())]
    if not valued:
        raise no_metric(", ".join(tasks) or "metrics", "None of them has a value: see creval report.")
    left_out([row.name for row in rows if row not in valued], "they have no value of these metrics")
    rows = valued
    found = find_baselines(Path(baselines) if baselines else folder_of(runs[0]).absolute().parent)
    known = {(column, which): frame_value(column, rows, found, which) for column in columns for which in _FRAME}
    frame = {key: value for key, value in known.items() if value is not None}
    return Board(rows, short_names([row.name for row in rows]), columns, headings(columns, rows), frame)


_FRAME = ("floor", "ceiling")


def short_names(names: Sequence[str]) -> list[str]:
    """Return each name from the slash that distinguishes it: `openrouter/qwen/qwen3` becomes `qwen3`."""
    parts = [name.split("/") for name in names]
    found = []
    for own in parts:
        for count in range(1, len(own) + 1):
            if own[0] == "baseline" or sum(other[-count:] == own[-count:] for other in parts) > 1:
                continue
            break
        else:
            count = len(own)
        found.append("/".join(own[-count:]))
    return found
