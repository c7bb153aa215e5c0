"""Validity and specificity at each level of a design choice (Figure 10)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creval_validity.analyses.ablation import AblationResult
from creval_validity.analyses.validity import Cell
from creval_validity.output.plot_style import FIGURES, MARKERS, colour_of
from creval_validity.stats.correlation import Correlation
from creval_validity.tables.catalogue import label

__all__ = ["plot_ablations"]


def plot_ablations(results: Sequence[AblationResult], base: Path) -> list[Path]:
    """Draw one row per factor, validity left and specificity right, one line per benchmark, with intervals of r."""
    with FIGURES.draw(len(results), 2, 9.4, 3.2 * len(results)) as (figure, axes):
        names: list[str] = []
        for row, result in enumerate(results):
            names = list(dict.fromkeys(level.cell.benchmark for level in result.levels))
            for side, criterion in enumerate(("validity", "specificity")):
                axis = axes[2 * row + side]
                _panel(axis, result, names, criterion)
        _legend(figure, names)
        return FIGURES.save(figure, base)


def _of(cell: Cell, criterion: str) -> Correlation | None:
    return cell.validity if criterion == "validity" else cell.specificity


def _panel(axis: Any, result: AblationResult, names: Sequence[str], criterion: str) -> None:
    levels = list(dict.fromkeys(level.level for level in result.levels))
    for index, benchmark in enumerate(names):
        found = [
            (levels.index(level.level), _of(level.cell, criterion))
            for level in result.levels
            if level.cell.benchmark == benchmark
        ]
        known = [(place, one) for place, one in found if one is not None]
        if not known:
            continue
        shift = 0.06 * (index - (len(names) - 1) / 2)
        axis.errorbar(
            [place + shift for place, _ in known],
            [one.r for _, one in known],
            yerr=[[one.r - one.fisher.low for _, one in known], [one.fisher.high - one.r for _, one in known]],
            marker=MARKERS[index % len(MARKERS)],
            color=colour_of(index),
            linewidth=1.1,
            elinewidth=0.6,
            markersize=5,
        )
    axis.axhline(0.0, color="#cccccc", linewidth=0.8, zorder=0)
    axis.set_xticks(range(len(levels)), levels)
    axis.set_ylim(-1.05, 1.05)
    axis.set_xlabel(result.factor)
    axis.set_ylabel("validity r" if criterion == "validity" else "specificity r|g")
    axis.set_title(f"{len(result.models)} models with every level", fontsize=8)


def _legend(figure: Any, names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker=MARKERS[i % len(MARKERS)], color=colour_of(i), label=label(name))
        for i, name in enumerate(names)
    ]
    figure.legend(handles=handles, loc="outside right center", fontsize=8)
