"""Figures that an analysis draws: no screen is needed, and equal results give equal files.

matplotlib is no dependency of the core: a plugin that draws names it, and says how to install it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError
from creval.report.output_files import unwritable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "Figures"]

# told apart by colour-blind readers too (Okabe and Ito, 2008), and four more for figures of many series
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000", "#999999", "#882255",
    "#44AA99", "#332288",
)  # fmt: skip
"""Colours of series, as hexadecimal RGB, in the order in which they are given out."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Draws the figures of one plugin and writes them.

    `creator` is the distribution that draws; it stands in the files. `fix` says how to install matplotlib with it.
    Example: `Figures("creval-rhyme", "Install it: pip install 'creval-rhyme[plots]'")`.
    """

    creator: str
    fix: str

    @contextmanager
    def draw(self, rows: int, columns: int, width: float, height: float) -> Iterator[tuple[Figure, list[Axes]]]:
        """Give a figure of `width` x `height` inches that no window system sees, and its axes in reading order.

        The settings of all figures hold inside the `with` block. Raises MissingPartError without matplotlib.
        """
        try:
            import matplotlib
        except ImportError as error:
            raise MissingPartError("plots need matplotlib, which is not installed", fix=self.fix) from error
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        with matplotlib.rc_context(self._settings()):
            figure = Figure(figsize=(width, height), layout="constrained")
            FigureCanvasAgg(figure)
            yield figure, list(figure.subplots(rows, columns, squeeze=False).ravel())

    def save(self, figure: Figure, base: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
        """Write a figure as `base.png` and `base.svg`, without dates, and return the paths.

        To be called inside the `with` block of `draw`. Raises UsageError where a file cannot be written.
        """
        written = []
        for form in formats:
            path = base.with_name(f"{base.name}.{form}")
            metadata = {"Date": None, "Creator": self.creator} if form == "svg" else {"Software": self.creator}
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                figure.savefig(path, format=form, metadata=metadata)
            except OSError as error:
                raise unwritable(error, path) from error
            written.append(path)
        return written

    def _settings(self) -> Any:
        return {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "svg.hashsalt": self.creator,  # names inside an SVG are random without it
            "svg.fonttype": "path",
            "date.converter": "concise",
            "figure.dpi": 100,
            "savefig.dpi": 160,
        }
