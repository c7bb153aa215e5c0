"""Tasks by models, coloured from floor to ceiling."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from creval.plugin.plots import number
from creval_compare.model_table import Column
from creval_plot.board import Board, Source, board
from creval_plot.figure_format import inches
from creval_plot.panels import fits, folded, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["cell_texts", "heatmap", "name_columns"]


def heatmap(
    runs: Sequence[Source],
    tasks: Sequence[str] = (),
    metrics: Sequence[str] = (),
    baselines: str | Path | None = None,
    width: str | float = "column",
    style: str | Path | None = None,
) -> Figure:
    """Return a figure with a row per model and a column per metric; each cell shows its value. The best model is first.

    The colour is the share of the way from floor to ceiling if both are known for every column, and the ceiling is
    better; else from the worst to the best model of the column. Raises RunError, UnknownNameError, UsageError.
    """
    found = board(runs, tasks, metrics, baselines)
    framed = all(_ends(found, column) is not None for column in found.columns)
    crossed = [head for column, head in zip(found.columns, found.heads, strict=True) if _crossed(found, column)]
    if crossed:
        text = (
            f"colours go from the worst to the best model, as the ceiling does not beat the floor: {', '.join(crossed)}"
        )
        warnings.warn(text, UserWarning, stacklevel=2)
    shares = np.array([[_share(found, row, column, framed) for column in found.columns] for row in found.rows])
    order = np.argsort([-np.nanmean([*row, 0]) for row in shares], kind="stable")
    shares, rows = shares[order], [found.rows[i] for i in order]
    texts = [[_text(found.metric(row, column)) for column in found.columns] for row in rows]
    total = inches(width)
    names = folded([found.names[i] for i in order], 0.36 * total)
    lines = max(1.6 + name.count("\n") for name in names)
    with panels(1, total, 0.7 + 0.12 * lines * len(names), style) as (figure, (axis,)):
        image = axis.imshow(np.ma.masked_invalid(shares), vmin=0, vmax=1, cmap="Blues", aspect="auto")
        cell_texts(axis, texts, shares)
        axis.set_yticks(range(len(names)), names)
        name_columns(axis, found.heads, 0.48 * total)
        bar = figure.colorbar(image, ax=axis, aspect=9 * figure.get_figheight(), pad=0.02, ticks=[0, 1])
        bar.ax.set_yticklabels(["floor", "ceiling"] if framed else ["worst", "best"])
        bar.outline.set_visible(False)
        return figure


def cell_texts(axis: Any, texts: Sequence[Sequence[str]], shares: Any) -> None:
    """Write a text into each cell, in black or white as its colour (0 light, 1 dark) allows."""
    for y, row in enumerate(texts):
        for x, text in enumerate(row):
            axis.text(x, y, text, ha="center", va="center", color="white" if shares[y][x] > 0.6 else "black")
    for spine in axis.spines.values():
        spine.set_visible(False)
    axis.tick_params(length=0)


def name_columns(axis: Any, heads: Sequence[str], room: float) -> None:
    """Name the columns below the map, slanted if the names do not fit into `room` inches."""
    each = room / len(heads)
    names = folded(heads, each)
    if fits(names, each):
        axis.set_xticks(range(len(heads)), names)
    else:
        axis.set_xticks(range(len(heads)), folded(heads, 1.2), rotation=45, ha="right", rotation_mode="anchor")


def _text(metric: Any) -> str:
    return "" if metric is None else number(metric["value"])


def _ends(found: Board, column: Column) -> tuple[float, float] | None:
    """Return floor and ceiling if both are known and the ceiling is better."""
    ends = found.frame.get((column, "floor")), found.frame.get((column, "ceiling"))
    return (ends[0], ends[1]) if ends[0] is not None and ends[1] is not None and not _crossed(found, column) else None


def _crossed(found: Board, column: Column) -> bool:
    """Return whether both ends are known and the ceiling is not better than the floor."""
    low, high = found.frame.get((column, "floor")), found.frame.get((column, "ceiling"))
    if low is None or high is None:
        return False
    return low <= high if _lower_is_better(found, column) else high <= low


def _lower_is_better(found: Board, column: Column) -> bool:
    metrics = (found.metric(row, column) for row in found.rows)
    return any(metric is not None and metric.get("higher_is_better") is False for metric in metrics)


def _share(found: Board, row: Any, column: Column, framed: bool) -> float:
    metric = found.metric(row, column)
    if metric is None:
        return np.nan
    values = [one["value"] for other in found.rows if (one := found.metric(other, column)) is not None]
    low, high = (_ends(found, column) if framed else None) or (min(values), max(values))
    if not framed and _lower_is_better(found, column):
        low, high = high, low
    return float(np.clip((metric["value"] - low) / (high - low), 0, 1)) if low != high else 0.5
