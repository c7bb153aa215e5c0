"""Values against their cost, in US dollars or tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from creval.plugin import UnknownNameError
from creval_analyses.figures import add_legend, error_lengths
from creval_plot.board import Board, Source, board, left_out, no_metric
from creval_plot.figure_format import colour_of, inches, marker_of
from creval_plot.panels import columns_for, folded_name, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Against", "front", "pareto", "price"]

Against = Literal["cost", "tokens"]
_AXES = {"cost": "US dollars per 1,000 samples", "tokens": "tokens per sample"}
_WIDE = 10
"""The ratio of largest to smallest value at and above which an axis is logarithmic."""


def pareto(
    runs: Sequence[Source],
    against: Against = "cost",
    tasks: Sequence[str] = (),
    metrics: Sequence[str] = (),
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a panel per metric: each model's value against its cost or tokens, and the Pareto front.

    Cost and tokens (input and output) are those of the model itself, without judges, per sample. Models whose price is
    not known are left out. Raises RunError, UnknownNameError, UsageError.
    """
    if against not in _AXES:
        raise UnknownNameError("axis", against, list(_AXES), where="against")
    found = board(runs, tasks, metrics)
    places = {
        column: {i: spent for i in range(len(found.rows)) if (spent := _spent(found, i, column, against)) is not None}
        for column in found.columns
    }
    if not any(x for each in places.values() for x in each.values()):
        raise no_metric(against, "No model has a known cost: plot tokens." if against == "cost" else "Name others.")
    shown = [column for column in found.columns if places[column]]
    drawn = {i for column in shown for i in places[column]}
    left_out([name for i, name in enumerate(found.names) if i not in drawn], f"their {against} is not known")
    total = inches(width)
    room = total / columns_for(total, len(shown)) - 0.4
    with panels(len(shown), width, 1.9, style) as (figure, axes):
        for axis, column in zip(axes, shown, strict=True):
            _panel(axis, found, column, places[column])
            axis.set_xlabel(_AXES[against])
            axis.set_ylabel(folded_name(found.heads[found.columns.index(column)], min(room, 1.2)))
        add_legend(figure, axes)
        return figure


def price(task: Mapping[str, Any], against: Against) -> float | None:
    """Return the cost per 1,000 samples, or the tokens per sample, of the model itself; None without all prices."""
    usages = [task["usage"], *task["usage_by_role"].values()]
    samples = sum(task["counts"].values()) - task["counts"]["skipped"]
    unpriced, *of_others = (usage["unpriced_calls"] for usage in usages)
    if not samples or (against == "cost" and unpriced > sum(of_others)):
        return None
    names = ("cost",) if against == "cost" else ("input_tokens", "output_tokens")
    whole, *others = (sum(usage[name] for name in names) for usage in usages)
    return float((1000 if against == "cost" else 1) * max(0.0, whole - sum(others)) / samples)


def front(points: Sequence[tuple[float, float]], better: bool) -> list[tuple[float, float]]:
    """Return the points (cost, value) that no other point beats in both, the cheapest first."""
    sign = 1 if better else -1
    found: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: (point[0], -sign * point[1])):
        if not found or sign * point[1] > sign * found[-1][1]:
            found.append(point)
    return found


def _spent(found: Board, row: int, column: Any, against: Against) -> float | None:
    if found.metric(found.rows[row], column) is None:
        return None
    result, _ = found.rows[row].cells[column]
    named = column.task.rpartition("/")[2]
    return price(next(task for task in result.results["tasks"] if task["task"] == named), against)


def _panel(axis: Any, found: Board, column: Any, places: Mapping[int, float]) -> None:
    points = []
    better = None
    for i, x in places.items():
        metric = found.rows[i].cells[column][1]
        better = metric.get("higher_is_better")
        points.append((x, metric["value"]))
        axis.errorbar(
            x,
            metric["value"],
            yerr=error_lengths([metric["value"]], [metric["ci_low"]], [metric["ci_high"]]),
            fmt=marker_of(i),
            color=colour_of(i),
            markersize=4.5,
            elinewidth=0.7,
            capsize=2,
            label=found.names[i],
            zorder=3,
        )
    if better is not None and len(points) > 1:
        best = front(points, better)
        xs, ys = zip(*best, strict=True)
        axis.plot(xs, ys, drawstyle="steps-post", color="#999999", linewidth=1, label="Pareto front", zorder=1)
    spent = places.values()
    if min(spent) > 0 and max(spent) >= _WIDE * min(spent):
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 3) if max(spent) < 1000 * min(spent) else (1,)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
