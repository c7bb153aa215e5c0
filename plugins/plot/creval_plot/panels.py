"""Panels of a figure: their layout and common properties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin.plots import fold_name
from creval_plot.figure_format import FIGURES, inches

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["columns_for", "fits", "folded", "folded_name", "panels"]

_PANEL = 2.2
_PER_INCH = 17
"""Characters per inch."""


def columns_for(width: float, panels: int) -> int:
    """Return how many panels of at least two inches fit next to each other, as evenly as possible over the rows."""
    most = max(1, int(width // _PANEL))
    rows = -(-panels // most)
    return -(-panels // rows)


@contextmanager
def panels(
    count: int, width: str | float, height: float, style: str | Path | None
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure of `count` panels, each `height` inches high."""
    total = inches(width)
    columns = columns_for(total, count)
    rows = -(-count // columns)
    with FIGURES.draw(rows, columns, total, rows * height + 0.25, style) as (figure, axes):
        for axis in axes[count:]:
            axis.set_axis_off()
        yield figure, axes[:count]


def folded(names: Sequence[str], room: float) -> list[str]:
    """Return names wrapped to as few lines as needed in `room` inches, with lines of about equal length."""
    return [folded_name(name, room) for name in names]


def folded_name(name: str, room: float) -> str:
    """Return a name wrapped to as few lines as needed in `room` inches, an arrow never alone on one."""
    name = name.replace(" ↑", "\u00a0↑").replace(" ↓", "\u00a0↓")
    width = max(8, int(room * _PER_INCH))
    found = fold_name(name, width)
    while width > 4 and (closer := fold_name(name, width - 1)).count("\n") == found.count("\n"):
        found, width = closer, width - 1
    return found


def fits(names: Sequence[str], room: float) -> bool:
    """Return whether every line of some names fits into `room` inches."""
    return all(len(line) <= _PER_INCH * room for name in names for line in name.splitlines())
