"""The shared style of all plots: the backend, and the markers of series."""

from __future__ import annotations

from creval_analyses.figures import COLOURS, Figures

__all__ = ["FIGURES", "MARKERS", "colour_of"]

FIGURES = Figures("creval-validity", "Install it: pip install matplotlib")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")


def colour_of(index: int) -> str:
    """Return a colour for the index-th series; colours repeat after twelve."""
    return COLOURS[index % len(COLOURS)]
