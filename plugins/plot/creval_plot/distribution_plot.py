"""Distribution of the scores of samples: a histogram per model, over the same bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from creval.plugin import UnknownNameError, open_run
from creval.plugin.plots import RunResult
from creval_analyses.figures import COLOURS, add_legend, whole_numbers
from creval_plot.board import Source, load_results, no_metric, one_task, short_names
from creval_plot.figure_format import FIGURES, inches
from creval_plot.panels import folded_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bin_edges", "distribution", "task_and_score"]

_FEW = 25
"""Up to this many different whole numbers have a bar each."""
_LEAST, _MOST = 5, 40
"""Bins of other scores."""


def distribution(
    runs: Sequence[Source],
    score: str | None = None,
    task: str | None = None,
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a histogram of a score per run, and the metric of that score with its interval.

    `score` defaults to that of the primary metric, `task` to the only one of the runs. Samples without the score are
    not in the histogram; the task says whether the metric counts them as 0. Raises RunError, UnknownNameError.
    """
    results = load_results(runs)
    task, score = task_and_score(results, task, score)
    values = [_values(result, task, score) for result in results]
    if not any(values):
        raise no_metric(f"{task}, {score}", "No sample has this score.")
    edges = bin_edges([value for some in values for value in some])
    names = short_names([result.results["model"] for result in results])
    if len(set(names)) < len(names):
        names = [f"{name} ({result.folder.name})" for name, result in zip(names, results, strict=True)]
    total = inches(width)
    with FIGURES.draw(len(results), 1, total, 0.62 * len(results) + 0.7, style) as (figure, axes):
        for axis, result, name, some in zip(axes, results, names, values, strict=True):
            axis.hist(some, bins=list(edges), color=COLOURS[5], edgecolor="white", linewidth=0.4)
            _mark(axis, _metric(result, task, score))
            said = folded_name(f"{name}  (n = {len(some)})", total - 0.6)
            axis.set_title(said, loc="left", pad=3, fontsize="medium")
            whole_numbers(axis.yaxis, 2)
            if _are_integers([value for some in values for value in some]):
                whole_numbers(axis.xaxis)
            axis.tick_params(labelbottom=axis is axes[-1])
        ends = [axis.get_xlim() for axis in axes]
        for axis in axes:
            axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
        shown = _named(results, task, score)
        axes[-1].set_xlabel(folded_name(shown if score == task else f"{task}: {shown}", total - 0.6))
        figure.supylabel("samples", fontsize=axes[0].yaxis.label.get_fontsize())
        add_legend(figure, axes)
        return figure


def bin_edges(values: Sequence[float]) -> list[float]:
    """Return the edges of bins: one bin for each whole number if there are few, else bins of equal width."""
    low, high = min(values), max(values)
    if _are_integers(values) and high - low < _FEW:
        return [float(edge) - 0.5 for edge in range(int(low), int(high) + 2)]
    if low == high:
        return [low - 0.5, high + 0.5]
    count = len(np.histogram_bin_edges(values, "auto")) - 1
    return list(np.linspace(low, high, min(_MOST, max(_LEAST, count)) + 1).tolist())


def task_and_score(results: Sequence[RunResult], task: str | None, score: str | None) -> tuple[str, str]:
    """Return the task and the score to draw. Raises UnknownNameError if the runs have several or others."""
    tasks = list(dict.fromkeys(str(one["task"]) for result in results for one in result.results["tasks"]))
    task = one_task(tasks, task, "the runs")
    if score is None:
        metrics = [metric for result in results for metric in _metrics(result, task)]
        score = next((str(one["definition"]["score"]) for one in metrics if one["primary"]), None)
    if score is None:
        raise no_metric(task, "The task has no primary metric: name a score.")
    return task, score


def _values(result: RunResult, task: str, score: str) -> list[float]:
    """Return the scores of a run's samples, or an empty list if the run does not have the task."""
    if all(one["task"] != task for one in result.results["tasks"]):
        return []
    records = list(open_run(result.folder, as_stored=True).scores(task))
    known = list(dict.fromkeys(name for record in records for name in record.scores))
    if known and score not in known:
        raise UnknownNameError("score", score, known, where=f"{result.folder}, task {task}")
    return [record.scores[score] for record in records if score in record.scores]


def _metric(result: RunResult, task: str, score: str) -> Mapping[str, Any] | None:
    """Return the mean (or rate) of a score over all conditions."""
    return next(
        (
            one
            for one in _metrics(result, task)
            if one["condition"] is None
            and one["value"] is not None
            and one["definition"]["score"] == score
            and one["definition"]["aggregate"]["name"] in ("mean", "rate")
        ),
        None,
    )


def _named(results: Sequence[RunResult], task: str, score: str) -> str:
    """Return the name of a score, with the resource of a metric made from it: `drat[embedded/minilm]`."""
    names = [one["name"] for result in results for one in _metrics(result, task) if one["definition"]["score"] == score]
    kinds = {kind for _, mark, kind in (str(name).partition("[") for name in names) if mark}
    return f"{score}[{kinds.pop()}" if len(kinds) == 1 else score


def _metrics(result: RunResult, task: str) -> list[Mapping[str, Any]]:
    return [one for each in result.results["tasks"] if each["task"] == task for one in each["metrics"]]


def _mark(axis: Any, metric: Mapping[str, Any] | None) -> None:
    if metric is None:
        return
    axis.axvline(metric["value"], color="black", linestyle="--", linewidth=1, label="mean")
    if metric["ci_low"] is not None:
        axis.axvspan(metric["ci_low"], metric["ci_high"], color="black", alpha=0.12, linewidth=0, label="95 % interval")


def _are_integers(values: Sequence[float]) -> bool:
    return all(float(value).is_integer() for value in values)
