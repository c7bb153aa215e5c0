"""Figures that an analysis draws: no screen is needed, and equal results give equal files.

matplotlib is no dependency of the core: a plugin that draws names it, and says how to install it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError
from creval.report.files import unwritable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["new_figure", "save_figure", "style"]


@contextmanager
def style(creator: str, cure: str) -> Iterator[None]:
    """Apply the figures' settings for a while. `creator` is the distribution that draws.

    Raises MissingPartError, with the cure, without matplotlib.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPartError("plots need matplotlib, which is not installed", cure=cure) from error
    settings: Any = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "svg.hashsalt": creator,  # names inside an SVG are drawn by chance without it
        "svg.fonttype": "path",
        "date.converter": "concise",
        "figure.dpi": 100,
        "savefig.dpi": 160,
    }
    with matplotlib.rc_context(settings):
        yield


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of `width` x `height` inches that no window system sees, and its axes in reading order."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def save_figure(figure: Figure, base: Path, creator: str, formats: Sequence[str] = ("png", "svg")) -> tuple[Path, ...]:
    """Write a figure as `base.png` and `base.svg`, without dates. Raises UsageError where that cannot be."""
    written = []
    for form in formats:
        path = base.with_name(f"{base.name}.{form}")
        metadata = {"Date": None, "Creator": creator} if form == "svg" else {"Software": creator}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, format=form, metadata=metadata)
        except OSError as error:
            raise unwritable(error, path) from error
        written.append(path)
    return tuple(written)
