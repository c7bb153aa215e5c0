"""Models as rows, their values with intervals, next to floor and ceiling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval_analyses.figures import COLOURS, add_legend, error_lengths
from creval_plot.board import Board, Source, board, left_out
from creval_plot.figure_format import inches
from creval_plot.panels import columns_for, folded, folded_name, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["forest"]

_QUIET = "#555555"
_LINES = {"floor": ("--", "#777777"), "ceiling": (":", "#000000")}


def forest(
    runs: Sequence[Source],
    tasks: Sequence[str] = (),
    metrics: Sequence[str] = (),
    baselines: str | Path | None = None,
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a panel per metric: a point per model, its interval, and lines at floor and ceiling.

    The models are sorted by their values in the first panel, the best on top; baselines are lines, not rows.
    Raises RunError, UnknownNameError, UsageError.
    """
    found = board(runs, tasks, metrics, baselines)
    for column, head in zip(found.columns, found.heads, strict=True):
        lacking = [name for row, name in zip(found.rows, found.names, strict=True) if found.metric(row, column) is None]
        left_out(lacking, f"they have no value of {head}")
    order = _order(found)
    total = inches(width)
    across = columns_for(total, len(found.columns))
    names = folded(found.names, 0.36 * total if across == 1 else 0.22 * total)
    lines = [1.3 + names[i].count("\n") for i in order]
    heights = {i: sum(lines[:y]) + lines[y] / 2 for y, i in enumerate(order)}
    with panels(len(found.columns), width, 0.5 + 0.12 * sum(lines), style) as (figure, axes):
        for place, axis in enumerate(axes):
            _panel(axis, found, place, heights)
            axis.set_xlabel(folded_name(found.heads[place], total / across - 0.2))
            axis.set_ylim(-0.2, sum(lines) + 0.2)
            shown = ["" if place % across else names[i] for i in order]
            axis.set_yticks(list(heights.values()), shown, linespacing=0.95)
        add_legend(figure, axes)
        return figure


def _order(found: Board) -> list[int]:
    """Return the indices of the rows, the worst first: matplotlib draws from below."""
    column = found.columns[0]
    metrics = [found.metric(row, column) for row in found.rows]
    sign = -1 if any(metric and metric.get("higher_is_better") is False for metric in metrics) else 1
    values = [-math.inf if metric is None else sign * metric["value"] for metric in metrics]
    return sorted(range(len(values)), key=lambda i: (values[i], -i))


def _panel(axis: Any, found: Board, place: int, heights: Mapping[int, float]) -> None:
    column = found.columns[place]
    for which, (line, colour) in _LINES.items():
        if (column, which) in found.frame:
            axis.axvline(found.frame[column, which], linestyle=line, color=colour, linewidth=1, label=which, zorder=1)
    known = [(y, metric) for i, y in heights.items() if (metric := found.metric(found.rows[i], column)) is not None]
    values = [metric["value"] for _, metric in known]
    reach = error_lengths(values, *([metric[end] for _, metric in known] for end in ("ci_low", "ci_high")))
    with_interval = any(metric["ci_low"] is not None for _, metric in known)
    axis.errorbar(
        values, [y for y, _ in known], xerr=reach, fmt="o", markersize=3.5, capsize=2, elinewidth=1, color=COLOURS[0],
        label="95 % interval" if with_interval else None, zorder=3,
    )  # fmt: skip
    with_value = {y for y, _ in known}
    for y in heights.values():
        if y not in with_value:
            axis.text(
                0.5, y, "no value", transform=axis.get_yaxis_transform(), ha="center", va="center", color=_QUIET,
                bbox={"color": "white", "pad": 1}, zorder=4,
            )  # fmt: skip
    if not known:
        axis.set_xticks([])  # there is nothing to scale
    axis.grid(axis="y", color="#eeeeee", zorder=0)
    axis.set_axisbelow(True)
