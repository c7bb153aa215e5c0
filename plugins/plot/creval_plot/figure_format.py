"""Widths of figures in papers, and figure files in the format of their suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import UnknownNameError, UsageError
from creval_analyses.figures import COLOURS, Figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FORMATS", "MARKERS", "WIDTHS", "colour_of", "inches", "marker_of", "save"]

FIGURES = Figures("creval-plot", "Install it: pip install 'matplotlib>=3.8'", size=7)
FORMATS = ("pdf", "svg", "png")
WIDTHS = {"column": 3.3, "text": 7.0}
"""Widths in inches: one column of a two-column paper, and both columns."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
_LEAST, _MOST = 1.5, 50.0


def inches(width: str | float) -> float:
    """Return a width in inches: `column`, `text`, or a number. Raises UnknownNameError, UsageError."""
    if width in WIDTHS:
        return WIDTHS[str(width)]
    try:
        found = float(width)
    except ValueError:
        raise UnknownNameError(
            "width", str(width), list(WIDTHS), hint="It is column, text, or a number of inches."
        ) from None
    if not _LEAST <= found <= _MOST:
        raise UsageError(f"a width of {found:g} inches", where="width", fix=f"Give {_LEAST:g} to {_MOST:g} inches.")
    return found


def colour_of(index: int) -> str:
    """Return the colour of the index-th series."""
    return COLOURS[index % len(COLOURS)]


def marker_of(index: int) -> str:
    """Return the marker of the index-th series: series also differ in greyscale."""
    return MARKERS[index % len(MARKERS)]


def save(figure: Figure, path: str | Path, style: str | Path | None = None) -> Path:
    """Write a figure as .pdf, .svg or .png (300 dpi) and return the path; equal figures give equal files.

    `style` is the one that the figure was made with. Raises UnknownNameError for another format, UsageError if the
    file cannot be written.
    """
    path = Path(path)
    form = path.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise UnknownNameError("format of a figure", form or path.name, list(FORMATS), where=str(path))
    with FIGURES.settings(style):
        FIGURES.save(figure, path.with_suffix(""), [path.suffix.removeprefix(".")])
    return path
