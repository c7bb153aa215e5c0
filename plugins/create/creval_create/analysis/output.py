"""Shared output of the analyses: options, the table as CSV and JSON and, if the paper has them, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import AnalysisOutput, FieldSpec, UsageError
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import COLOURS, Figures, add_legend, error_lengths, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "OUTPUT", "PLOTS", "CurvePoint", "Drawing", "Found", "finish", "line_plot"]

OUTPUT = FieldSpec("output", "file", None, "Folder for CSV and JSON (and figures).")
PLOTS = FieldSpec("no_plots", "boolean", False, "Write no figures.")

CurvePoint = tuple[float, float, float | None, float | None]
"""A position on the horizontal axis, the value there, and the ends of its interval."""
Drawing = Callable[["Axes"], None]
"""A function that draws on one pair of axes."""
FIGURES = Figures("creval-create", "Install it: pip install 'creval-create[plots]', or leave figures out: --no-plots")


@dataclass(frozen=True)
class Found:
    """A table with its notes, further data, and its plot."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    drawing: Drawing | Sequence[Drawing] | None = None
    """The functions that draw the figure: one panel, or several next to each other."""


def finish(found: Found, options: Mapping[str, Any]) -> AnalysisOutput:
    """Write the files that the options name and return the output."""
    if not found.rows:
        raise UsageError("there is nothing to show", where=f"creval analyse {found.name}", fix="Name other runs.")
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    data = {"rows": rows, **found.data}
    files: list[Path] = []
    if options.get("output"):
        folder = Path(str(options["output"]))
        files = [
            write_csv(folder / f"{found.name}.csv", found.columns, found.rows),
            write_json(folder / f"{found.name}.json", data),
        ]
        if found.drawing is not None and not options.get("no_plots"):
            panels = (found.drawing,) if callable(found.drawing) else found.drawing
            width = 6.0 if len(panels) == 1 else 4.0 * len(panels)
            with FIGURES.draw(1, len(panels), width, 4.0) as (figure, every):
                for drawing, axes in zip(panels, every, strict=True):
                    drawing(axes)
                add_legend(figure, every)
                files += FIGURES.save(figure, folder / found.name)
    return AnalysisOutput(found.title, found.columns, found.rows, found.notes, [str(file) for file in files], data)


def line_plot(curves: Mapping[str, Sequence[CurvePoint]], x: str, y: str) -> Drawing:
    """Return a function that draws one line per name, with its intervals."""

    def draw(axes: Axes) -> None:
        for place, (name, points) in enumerate(curves.items()):
            xs, ys, lows, highs = zip(*points, strict=True)
            reach = error_lengths(ys, lows, highs)
            colour = COLOURS[place % len(COLOURS)]
            axes.errorbar(xs, ys, yerr=reach, marker="o", label=name, color=colour, elinewidth=0.7, capsize=2)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if all(float(x).is_integer() for points in curves.values() for x, *_ in points):
            whole_numbers(axes.xaxis)

    return draw
