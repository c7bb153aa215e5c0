"""What all plots share: a canvas without a screen, plain colours, and the same bytes for the same result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from creval.report import figures
from creval.report.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "MARKERS", "colour_of", "new_figure", "save_figure", "style"]

# colours that stay apart for colour-blind readers (Okabe and Ito, 2008)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933", "#882255", "#44AA99")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
_CREATOR = "creval-validity"


@contextmanager
def style() -> Iterator[None]:
    """Apply the plots' settings for a while. Raises MissingPartError without matplotlib."""
    with figures.style(_CREATOR, "Install it: pip install matplotlib"):
        yield


def save_figure(figure: Figure, base: Path, formats: Sequence[str] = ("png", "svg")) -> tuple[Path, ...]:
    """Write a figure as `base.png` and `base.svg`, without dates, so that equal results give equal files."""
    return figures.save_figure(figure, base, _CREATOR, formats)


def colour_of(index: int) -> str:
    """Return a colour for the index-th series; colours repeat after ten."""
    return COLOURS[index % len(COLOURS)]
