"""Tables and files of the analyses: the same bytes for the same result."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError, UsageError
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
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "creval-kumo",
    "svg.fonttype": "path",
    "savefig.dpi": 160,
}


def write_text(path: Path, text: str) -> str:
    """Write a file, its folder made first; returns its path. Raises UsageError where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror}", where=str(path), cure="Name a folder that you may write to."
        ) from error
    return str(path)


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return write_text(path, out.getvalue())


def write_json(path: Path, data: Any) -> str:
    """Write plain data."""
    return write_text(path, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


@contextmanager
def figure(rows: int, columns: int, width: float, height: float) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure that no window system sees, and its axes in reading order, in the plots' style.

    Raises MissingPartError without matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPartError(
            "plots need matplotlib, which is not installed",
            cure="Install it: pip install 'creval-kumo[plots]', or leave the plots out with --no-plots.",
        ) from error
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        drawn = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(drawn)
        yield drawn, list(drawn.subplots(rows, columns, squeeze=False).ravel())


def save_figure(drawn: Figure, base: Path) -> list[str]:
    """Write a figure as PNG and SVG, without dates; returns the paths. Raises UsageError where that cannot be."""
    written = []
    for form, metadata in (("png", {"Software": "creval-kumo"}), ("svg", {"Date": None, "Creator": "creval-kumo"})):
        path = base.with_name(f"{base.name}.{form}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            drawn.savefig(path, format=form, metadata=metadata)
        except OSError as error:
            raise UsageError(
                f"cannot be written: {error.strerror}", where=str(path), cure="Name a folder that you may write to."
            ) from error
        written.append(str(path))
    return written
