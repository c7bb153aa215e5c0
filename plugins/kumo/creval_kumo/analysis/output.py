"""Tables and files of the analyses: the same bytes for the same result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.report import figures, files
from creval.types.components import FieldSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "FILES", "figure", "save_figure", "write_csv", "write_json", "write_text"]

FILES: tuple[FieldSpec, ...] = (
    FieldSpec("output", "file", None, "Folder for CSV, JSON and plots."),
    FieldSpec("no_plots", "boolean", False, "Write no plots."),
)
"""The options that every analysis has."""

# told apart by colour-blind readers too (Okabe and Ito, 2008), and four more for domains with many communities
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000", "#999999", "#882255",
    "#44AA99", "#332288",
)  # fmt: skip
_CREATOR = "creval-kumo"
_CURE = "Install it: pip install 'creval-kumo[plots]', or leave the plots out with --no-plots."


def write_text(path: Path, text: str) -> str:
    """Write a file, its folder made first; returns its path. Raises UsageError where that cannot be."""
    return str(files.write_text(path, text))


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table; None is an empty cell."""
    return write_text(path, files.csv_text(columns, rows))


def write_json(path: Path, data: Any) -> str:
    """Write plain data."""
    return write_text(path, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


@contextmanager
def figure(rows: int, columns: int, width: float, height: float) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure that no window system sees, and its axes in reading order, in the plots' style.

    Raises MissingPartError without matplotlib.
    """
    with figures.style(_CREATOR, _CURE):
        yield figures.new_figure(rows, columns, width, height)


def save_figure(drawn: Figure, base: Path) -> list[str]:
    """Write a figure as PNG and SVG, without dates; returns the paths. Raises UsageError where that cannot be."""
    return [str(path) for path in figures.save_figure(drawn, base, _CREATOR)]
