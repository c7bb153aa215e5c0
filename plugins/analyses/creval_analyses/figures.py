"""Figures of analyses: they require no display, and equal results give equal files.

Promised: these names follow semantic versioning. matplotlib is not a dependency: a plugin that draws depends on it, and
explains how to install it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import MissingPartError, UsageError
from creval.plugin.drawing import fold_name, unwritable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "Figures", "add_legend", "error_lengths", "whole_numbers"]

# distinguishable for colour-blind readers (Okabe and Ito, 2008), and four more for figures with many series
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#000000", "#882255", "#332288",
    "#882200", "#4466EE",
)  # fmt: skip
"""Colours of series, as hexadecimal RGB, in the order of use."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Draws the figures of one plugin and writes them.

    `creator` is the distribution that draws; its name is in the files. `fix` says how to install matplotlib with it.
    Example: `Figures("creval-rhyme", "Install it: pip install 'creval-rhyme[plots]'")`.
    """

    creator: str
    fix: str
    size: float = 9
    """The font size in points."""

    @contextmanager
    def draw(
        self, rows: int, columns: int, width: float, height: float, style: str | Path | None = None
    ) -> Iterator[tuple[Figure, list[Axes]]]:
        """Yield a figure of `width` x `height` inches, without a window, and its axes in reading order.

        Inside the `with` block the settings of all figures apply, overridden by those of `style`: a matplotlib style
        file, or the name of a style. Raises MissingPartError without matplotlib, UsageError for an unknown style.
        """
        with self.settings(style):
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            figure = Figure(figsize=(width, height), layout="constrained")
            FigureCanvasAgg(figure)
            yield figure, list(figure.subplots(rows, columns, squeeze=False).ravel())
            _begin_at_zero(figure)

    @contextmanager
    def settings(self, style: str | Path | None = None) -> Iterator[None]:
        """Apply the settings of all figures, overridden by those of `style`, inside the `with` block (see `draw`)."""
        try:
            import matplotlib
        except ImportError as error:
            raise MissingPartError("plots need matplotlib, which is not installed", fix=self.fix) from error
        with matplotlib.rc_context({**self._settings(), **_style(style)}):
            yield

    def save(self, figure: Figure, base: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
        """Write a figure as `base.png` and `base.svg` (or pdf), without dates, and return the paths.

        Call it inside the `with` block of `draw`. Raises UsageError if a file cannot be written.
        """
        written = []
        _begin_at_zero(figure)
        _lay_out(figure)
        for form in formats:
            path = base.with_name(f"{base.name}.{form}")
            metadata = {
                "svg": {"Date": None, "Creator": self.creator},
                "pdf": {"CreationDate": None, "Creator": self.creator},
            }.get(form, {"Software": self.creator})
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
            "font.size": self.size,
            "text.parse_math": False,  # a dollar in the name of a model does not begin a formula
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
            "svg.hashsalt": self.creator,  # without it names inside an SVG are random
            "svg.fonttype": "path",
            "pdf.fonttype": 42,  # publishers reject Type 3 fonts
            "date.converter": "concise",
            "figure.dpi": 100,
            "savefig.dpi": 300,
        }


def _begin_at_zero(figure: Figure) -> None:
    """Let an axis on which everything is 0 range from 0 to 1: around 0 it would show values that do not occur."""
    from matplotlib.ticker import AutoLocator

    for axes in figure.axes:
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            low, high = getattr(axes.dataLim, f"interval{name}")
            if low == high == 0 and isinstance(axis.get_major_locator(), AutoLocator):
                getattr(axes, f"set_{name}lim")(0, 1)


def _lay_out(figure: Figure) -> None:
    """Compute the layout once; otherwise matplotlib computes and draws it again for each file."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine(None)


def _style(style: str | Path | None) -> Mapping[str, Any]:
    """Return the settings of a style file, or of a named style of matplotlib."""
    if style is None:
        return {}
    import matplotlib

    if Path(style).is_file():
        try:
            return dict(matplotlib.rc_params_from_file(style, fail_on_error=True, use_default_template=False))
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(f"is not a style of matplotlib: {error}", where=str(style)) from error
    from matplotlib import style as styles

    if str(style) not in styles.library:
        fix = "Name a style file, or a style that matplotlib has, such as grayscale."
        raise UsageError("there is no such style", where=str(style), fix=fix)
    return dict(styles.library[str(style)])


def add_legend(figure: Figure, axes: Sequence[Axes], place: str = "upper") -> None:
    """Add one legend of all series of `axes` next to them, never over the data; none if no series has a name.

    `place`: `upper` or `lower`, in as many columns as fit into the width of the figure, whose height grows by that of
    the legend; or `right`.
    """
    series: dict[str, Artist] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            series.setdefault(label, handle)
    if not series:
        return
    names = [fold_name(label, max(20, int(12 * figure.get_figwidth()))) for label in series]
    if place == "right":
        figure.legend(list(series.values()), names, loc="outside right upper")
        return
    for columns in range(min(len(names), 6), 0, -1):
        legend = figure.legend(list(series.values()), names, loc=f"outside {place} center", ncols=columns)
        if columns == 1 or legend.get_window_extent().width < 0.98 * figure.bbox.width:
            figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)
            return
        legend.remove()


def whole_numbers(axis: Axis, most: int | None = None) -> None:
    """Put ticks of an axis only at whole numbers, about `most` of them: for counts, states, steps."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=most or "auto", integer=True, min_n_ticks=1))


def error_lengths(
    values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]
) -> list[list[float]]:
    """Return the lengths of each interval below and above its value, in the form of `yerr`; nan without an interval."""
    return [
        [_distance(value, low) for value, low in zip(values, lows, strict=True)],
        [_distance(high, value) for value, high in zip(values, highs, strict=True)],
    ]


def _distance(upper: float | None, lower: float | None) -> float:
    return math.nan if upper is None or lower is None else max(0.0, upper - lower)
