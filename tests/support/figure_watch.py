"""Rules for every figure that a test draws: whole ticks for whole numbers, no legend on data, what the table has.

They hold for the figures of all plugins, also of those that are yet to come: `conftest.py` puts the watch in place.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from creval.types.components import AnalysisOutput
from creval_analyses.figures import Figures

__all__ = ["Drawn", "faults", "watched_figures", "what_is_missing"]

_INTERVAL = re.compile(r"\b(low|high|lower|upper|ci|interval)\b|_(low|high|ci)\b", re.IGNORECASE)
_PAPER = re.compile(r"paper|author|published|\(Table \d+\)", re.IGNORECASE)
_PRINTED = re.compile(r"\[[+-]?\d[\d.]*, [+-]?\d[\d.]*\]")


def faults(figure: Any) -> list[str]:
    """Return what is wrong with a figure that has been laid out, one line each."""
    areas = [axes.get_window_extent() for axes in figure.axes]
    inner = [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    found = [
        "a legend is on data: use add_legend"
        for legend in (*figure.legends, *inner)
        if any(legend.get_window_extent().overlaps(area) for area in areas)
    ]
    for axes in figure.axes:
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if _whole_data(axes, name) and not all(map(_whole, axis.get_majorticklabels())):
                found.append(f"axis {axis.get_label_text() or name!r} has whole numbers: use whole_numbers")
    return found


def _whole_data(axes: Any, name: str) -> bool:
    """Whether what is drawn along an axis are whole numbers, and more than the 0 and 1 of shares."""
    if getattr(axes, f"get_{name}scale")() != "linear":
        return False
    lines = [line for line in axes.lines if line.get_transform() == axes.transData]
    values = [float(value) for line in lines for value in getattr(line, f"get_{name}data")(orig=False)]
    for bar in axes.patches:
        if hasattr(bar, "get_height"):
            values.append(float(bar.get_x() + bar.get_width() / 2 if name == "x" else bar.get_y() + bar.get_height()))
    known = [value for value in values if math.isfinite(value)]
    return bool(known) and max(known) > 1 and all(value.is_integer() for value in known)


def _whole(label: Any) -> bool:
    try:
        return float(label.get_text().replace("\u2212", "-")).is_integer()
    except ValueError:
        return True  # a name, or nothing


def what_is_missing(drawn: Drawn, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return what a table has and the figure of it lacks: intervals (drawn or printed), the numbers of the paper."""
    filled = [name for place, name in enumerate(columns) if any(row[place] not in (None, "") for row in rows)]
    missing = []
    pair = {"from", "to"} <= set(filled) and isinstance(rows[0][list(columns).index("from")], int | float)
    intervals = [name for name in filled if _INTERVAL.search(name) or (pair and name in ("from", "to"))]
    if intervals and not drawn.intervals and not any(map(_PRINTED.search, drawn.texts)):
        missing.append(f"the intervals {', '.join(intervals)}")
    theirs = [name for name in filled if _PAPER.search(name)]
    theirs += [str(row[0]) for row in rows if row and _PAPER.search(str(row[0]))]
    if theirs and not any(map(_PAPER.search, drawn.texts)):
        missing.append(f"the paper's {', '.join(theirs)}")
    return missing


class Drawn(NamedTuple):
    """What is known of a figure: its texts, and whether it has an error bar."""

    texts: Sequence[str]
    intervals: bool

    @classmethod
    def of(cls, figure: Any) -> Drawn:
        from matplotlib.text import Text

        texts = {text.get_text().replace("\u2212", "-") for text in figure.findobj(Text)}
        return cls(sorted(texts), _has_bars(figure))


def _has_bars(figure: Any) -> bool:
    from matplotlib.container import ErrorbarContainer

    bars = [one for axes in figure.axes for one in axes.containers if isinstance(one, ErrorbarContainer)]
    parts = [part for one in bars for lines in one.lines[2] for part in lines.get_segments()]
    return any(len(part) and np.isfinite(part).all() for part in parts)


@contextmanager
def watched_figures() -> Iterator[None]:
    """Fail a test that draws a figure with a fault, or one that lacks what the table of its analysis has."""
    known: dict[str, Drawn] = {}
    save: Callable[..., list[Path]] = Figures.save
    init = AnalysisOutput.__init__

    @functools.wraps(save)
    def saved(self: Figures, figure: Any, base: Path, *more: Any, **named: Any) -> list[Path]:
        files = save(self, figure, base, *more, **named)
        found = faults(figure)
        assert not found, f"figure {base.name}: {'; '.join(found)}"
        known.update(dict.fromkeys(map(str, files), Drawn.of(figure)))
        return files

    @functools.wraps(init)
    def made(self: AnalysisOutput, *given: Any, **named: Any) -> None:
        init(self, *given, **named)
        for file in map(str, self.files):
            drawn = known.pop(file, None)
            found = [] if drawn is None else what_is_missing(drawn, self.columns, self.rows)
            assert not found, f"figure {file} lacks {' and '.join(found)}"

    Figures.save, AnalysisOutput.__init__ = saved, made  # type: ignore[method-assign]
    yield
    Figures.save, AnalysisOutput.__init__ = save, init  # type: ignore[method-assign]
