"""The layout of `creval report`: a table per run, or one table of several runs from creval-compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

import click

from creval.api import RunResult
from creval.cli.lazy_group import import_installed
from creval.format import without_empty
from creval.report.baselines import Baselines
from creval.report.metric_choice import MetricChoice, chosen
from creval.report.output_files import FORMATS
from creval.report.result_tables import COLUMNS, LEGEND, print_results, result_rows, run_notes

__all__ = ["LaidOut", "Layout", "hidden_notes", "lay_out", "layout_of"]

Layout = Literal["runs", "models", "each"]
ErrorStyle = Literal["interval", "se", "none"]
_MOST_RUN_COLUMNS = 3
"""The most runs that have a column each; more runs are rows."""


def layout_of(layout: Literal["auto"] | Layout, runs: int) -> Layout:
    """Return the layout for so many runs. Without creval-compare each run has a table of its own."""
    if layout != "auto":
        return layout
    if runs == 1 or find_spec("creval_compare") is None:
        return "each"
    return "runs" if runs <= _MOST_RUN_COLUMNS else "models"


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Results with the metrics that are shown, a table per run. `hidden`: notes on the metrics left out."""

    results: Sequence[RunResult]
    baselines: Baselines
    hidden: Sequence[str]

    def print(self) -> None:
        """Print the tables, their notes, and how many metrics are not shown."""
        print_results(self.results, self.baselines)
        for line in self.hidden:
            click.echo(line)

    def text(self, form: str) -> str:
        """Return the table with its notes as Markdown or LaTeX."""
        if len(self.results) > 1:
            part = f"`creval report --{form}` of several runs"
            lay_out_runs = import_installed("creval_compare.report_layout:lay_out_runs", "creval-compare", part)
            return str(lay_out_runs(self).text(form))
        columns, rows = without_empty(COLUMNS, result_rows(self.results[0], self.baselines))
        legend = [LEGEND] if "floor" in columns or "ceiling" in columns else []
        return FORMATS[form](columns, rows, [*legend, *run_notes(self.results)])


def lay_out(
    results: Sequence[RunResult],
    baselines: Baselines,
    asked: Literal["auto"] | Layout = "auto",
    choice: MetricChoice | None = None,
    error: ErrorStyle = "interval",
    groups: bool = True,
) -> LaidOut:
    """Choose the metrics and the layout; `groups`: test which models differ.

    Raises UnknownNameError for a task or metric that no run has, MissingPartError for one table of several runs without
    creval-compare.
    """
    layout = layout_of(asked, len(results))
    choice = (choice or MetricChoice())._replace(overall=layout == "models")
    results_shown, hidden = chosen(results, choice)
    notes = hidden_notes(hidden, choice)
    if layout == "each":
        return LaidOut(results_shown, baselines, notes)
    lay_out_together = import_installed(
        f"creval_compare.report_layout:lay_out_{layout}", "creval-compare", f"`creval report --layout {layout}`"
    )
    laid_out: LaidOut = lay_out_together(LaidOut(results_shown, baselines, notes), error, groups)
    return laid_out


def hidden_notes(hidden: int, choice: MetricChoice) -> list[str]:
    """Return how many metrics are not shown, unless the user chose some."""
    if not hidden or choice.metrics or choice.tasks:
        return []
    return [f"{hidden} more metric{'' if hidden == 1 else 's'}: add --all to creval report"]
