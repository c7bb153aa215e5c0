"""Tests in the plane of validity and specificity, under the frontier of Theorem 1 (Figures 5 and 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from creval_analyses.figures import error_lengths
from creval_validity.analyses.validity import Cell, Panel, ValidityResult
from creval_validity.output.plot_style import FIGURES, MARKERS, colour_of
from creval_validity.stats.frontier import Frontier
from creval_validity.tables.catalogue import constructs_of, label

__all__ = ["plot_benchmarks", "plot_constructs"]


def plot_benchmarks(result: ValidityResult, base: Path, benchmarks: Sequence[str] = ()) -> list[Path]:
    """Draw one panel per benchmark: feasible region, optimum, each test with intervals (Figure 5b; a single one: 9)."""
    chosen = tuple(benchmarks) or result.request.benchmarks
    panels = {panel.benchmark: panel for panel in result.panels}
    columns = min(3, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    with FIGURES.draw(rows, columns, 3.6 * columns + 1.2, 3.4 * rows) as (figure, axes):
        for axis, benchmark in zip(axes, chosen, strict=False):
            cells = [result.cell(test, benchmark) for test in result.request.tests]
            _benchmark_panel(axis, panels[benchmark], cells)
        for axis in axes[len(chosen) :]:
            axis.set_axis_off()
        _legend(figure, result.request.tests)
        return FIGURES.save(figure, base)


def plot_constructs(result: ValidityResult, base: Path) -> list[Path]:
    """Draw one panel per construct: small points are cells, large ones a test's mean over benchmarks (Figure 5a).

    The curve is the frontier at the mean coupling of the construct's benchmarks: only a guide, since the theorem bounds
    cells, not means of cells. A star marks a cell that is significant on both axes.
    """
    groups = constructs_of(result.request.benchmarks)
    with FIGURES.draw(1, len(groups), 3.8 * len(groups) + 1.2, 3.8) as (figure, axes):
        for axis, (construct, benchmarks) in zip(axes, groups.items(), strict=True):
            couplings = [p.coupling for p in result.panels if p.benchmark in benchmarks and p.coupling is not None]
            _frame(axis, construct, float(np.mean(couplings)) if couplings else None)
            for index, test in enumerate(result.request.tests):
                for cell in (result.cell(test, benchmark) for benchmark in benchmarks):
                    _point(axis, cell, index, size=18.0)
                for mean in result.constructs:
                    if (mean.construct, mean.test) == (construct, test):
                        axis.scatter(
                            mean.validity,
                            mean.specificity,
                            s=90,
                            marker=MARKERS[index % len(MARKERS)],
                            color=colour_of(index),
                            edgecolors="black",
                            linewidths=1.2,
                            zorder=4,
                        )
        _legend(figure, result.request.tests)
        return FIGURES.save(figure, base)


def _benchmark_panel(axis: Any, panel: Panel, cells: Sequence[Cell]) -> None:
    title = f"{label(panel.benchmark)}  n={panel.n}"
    _frame(axis, title if panel.coupling is None else f"{title}  R={panel.coupling:.2f}", panel.coupling)
    for index, cell in enumerate(cells):
        _interval(axis, cell, index)
        _point(axis, cell, index, size=46.0)


def _frame(axis: Any, title: str, coupling: float | None) -> None:
    axis.set_title(title, fontsize=9)
    axis.set_xlabel("validity r")
    axis.set_ylabel("specificity r|g")
    axis.set_xlim(-1.05, 1.05)
    axis.set_ylim(-1.05, 1.05)
    axis.axhline(0.0, color="#cccccc", linewidth=0.8, zorder=0)
    axis.axvline(0.0, color="#cccccc", linewidth=0.8, zorder=0)
    if coupling is None:
        return
    frontier = Frontier(coupling)
    grid = np.linspace(-1.0, 1.0, 401)
    upper = [frontier.upper(float(v)) for v in grid]
    lower = [frontier.lower(float(v)) for v in grid]
    axis.fill_between(grid, lower, upper, color="#eeeeee", linewidth=0.0, zorder=0)
    axis.plot(grid, upper, color="black", linewidth=1.1, zorder=1)
    best_v, best_s = frontier.optimum
    axis.scatter([best_v], [best_s], marker="*", s=70, color="black", zorder=3)
    axis.annotate("(v*, s*)", (best_v, best_s), textcoords="offset points", xytext=(-8, -12), ha="right", fontsize=7)


def _interval(axis: Any, cell: Cell, index: int) -> None:
    """Draw the intervals of both correlations of a cell: a thin cross behind its point."""
    if cell.validity is None or cell.specificity is None:
        return
    reach = [error_lengths([one.r], [one.fisher.low], [one.fisher.high]) for one in (cell.validity, cell.specificity)]
    axis.errorbar(
        cell.validity.r, cell.specificity.r, yerr=reach[1], xerr=reach[0],
        fmt="none", color=colour_of(index), elinewidth=0.7, alpha=0.6, zorder=2,
    )  # fmt: skip


def _point(axis: Any, cell: Cell, index: int, size: float) -> None:
    if cell.validity is None or cell.specificity is None:
        return
    both = cell.validity.p < 0.05 and cell.specificity.p < 0.05
    axis.scatter(
        cell.validity.r,
        cell.specificity.r,
        s=size,
        marker=MARKERS[index % len(MARKERS)],
        color=colour_of(index),
        linewidths=0.0,
        zorder=3,
    )
    if both:
        axis.scatter(
            cell.validity.r,
            cell.specificity.r,
            s=size * 4,
            marker="*",
            color="#FFC20A",
            edgecolors="black",
            linewidths=0.5,
            zorder=5,
        )


def _legend(figure: Any, tests: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=MARKERS[i % len(MARKERS)], color=colour_of(i), label=label(test))
        for i, test in enumerate(tests)
    ]
    handles.append(
        Line2D(
            [],
            [],
            linestyle="",
            marker="*",
            markersize=10,
            color="#FFC20A",
            markeredgecolor="black",
            label="p<.05 on both",
        )
    )
    figure.legend(handles=handles, loc="outside right center", fontsize=8)
