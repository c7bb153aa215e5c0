"""Correlations of benchmarks with each other and of tests with each other, as heat maps (Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from creval_validity.output.plot_style import FIGURES
from creval_validity.output.text import number
from creval_validity.stats.correlation import stars
from creval_validity.stats.matrix import CorrelationMatrix
from creval_validity.tables.catalogue import label

__all__ = ["plot_matrices"]


def plot_matrices(matrices: Sequence[tuple[str, CorrelationMatrix]], base: Path) -> list[Path]:
    """Draw matrices side by side; each cell shows r, stars and n. An empty cell has fewer than four models."""
    widths = [0.85 * len(matrix.names) + 1.4 for _, matrix in matrices]
    with FIGURES.draw(1, len(matrices), sum(widths), max(widths) - 0.6) as (figure, axes):
        for axis, (title, matrix) in zip(axes, matrices, strict=True):
            _heat_map(axis, title, matrix)
        return FIGURES.save(figure, base)


def _heat_map(axis: Any, title: str, matrix: CorrelationMatrix) -> None:
    size = len(matrix.names)
    values = np.full((size, size), np.nan)
    for row, x in enumerate(matrix.names):
        for column, y in enumerate(matrix.names):
            pair = matrix.cell(x, y)
            if pair.r is None:
                continue
            values[row, column] = pair.r
            mark = "" if x == y or pair.p is None else stars(pair.p)
            axis.text(
                column,
                row,
                f"{number(pair.r)}{mark}\nn={pair.n}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if abs(pair.r) > 0.7 else "black",
            )
    axis.imshow(np.ma.masked_invalid(values), vmin=-1.0, vmax=1.0, cmap="RdBu_r")
    names = [label(name) for name in matrix.names]
    axis.set_xticks(range(size), names, rotation=45, ha="right")
    axis.set_yticks(range(size), names)
    axis.tick_params(length=0)
    axis.set_title(title, fontsize=9)
