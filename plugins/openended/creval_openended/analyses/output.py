"""Output shared by the analyses: their options, table files and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec
from creval.plugin.report import write_csv, write_json
from creval_analyses.figures import Figures

__all__ = ["FIGURES", "OPTIONS", "finished"]

FIGURES = Figures("creval-openended", "Install it: pip install matplotlib, or leave the plots out with --no-plots.")

OPTIONS: tuple[FieldSpec, ...] = (
    FieldSpec("task", "string", None, "Only this task of the runs."),
    FieldSpec("output", "file", None, "Folder for CSV, JSON and plots."),
    FieldSpec("no_plots", "boolean", False, "Write no plots."),
)
"""The options of every analysis."""


def finished(
    name: str,
    title: str,
    table: tuple[Sequence[str], Sequence[Sequence[Any]]],
    notes: Sequence[str],
    options: Mapping[str, Any],
    plot: Callable[[Path], Sequence[Path]] | None = None,
) -> AnalysisOutput:
    """Return the output of an analysis; with `--output`, write its table as CSV and JSON and draw the plot."""
    columns, rows = table
    data = {"rows": [dict(zip(columns, row, strict=True)) for row in rows]}
    files: list[Path] = []
    if options.get("output"):
        folder = Path(str(options["output"]))
        files = [write_csv(folder / f"{name}.csv", columns, rows), write_json(folder / f"{name}.json", data)]
        if plot is not None and not options.get("no_plots"):
            files += plot(folder / name)
    return AnalysisOutput(title, columns, rows, notes, [str(file) for file in files], data)
