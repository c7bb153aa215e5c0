"""What all plots share: a canvas without a screen, plain colours, and the same bytes for the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MARKERS", "colour_of", "new_figure", "save_figure", "style"]

# colours that stay apart for colour-blind readers (Okabe and Ito, 2008)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933", "#882255", "#44AA99")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
_SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "creval-validity",
    "svg.fonttype": "path",
    "date.converter": "concise",
    "figure.dpi": 100,
    "savefig.dpi": 160,
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the plots' settings for a while. Raises MissingPartError without matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPartError(
            "plots need matplotlib, which is not installed", cure="Install it: pip install matplotlib"
        ) from error
    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    """Return a figure that no window system sees, and its axes in reading order."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    return figure, list(grid.ravel())


def save_figure(figure: Figure, base: Path, formats: Sequence[str] = ("png", "svg")) -> tuple[Path, ...]:
    """Write a figure as `base.png` and `base.svg`, without dates, so that equal results give equal files."""
    written = []
    for form in formats:
        path = base.with_name(f"{base.name}.{form}")
        metadata = {"Date": None, "Creator": "creval-validity"} if form == "svg" else {"Software": "creval-validity"}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, format=form, metadata=metadata)
        except OSError as error:
            raise UsageError(
                f"cannot be written: {error.strerror}", where=str(path), cure="Name a folder that you may write to."
            ) from error
        written.append(path)
    return tuple(written)


def colour_of(index: int) -> str:
    """Return a colour for the index-th series; colours repeat after ten."""
    return COLOURS[index % len(COLOURS)]
