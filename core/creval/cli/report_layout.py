"""How several runs are laid out on the terminal: a column per run, or a row per model with its significance groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import click

from creval.api import RunResult
from creval.cli.lazy_group import import_installed
from creval.format import without_empty
from creval.report.baselines import Baselines
from creval.report.metric_choice import MetricChoice, chosen
from creval.report.output_files import FORMATS
from creval.report.result_tables import (
    COLUMNS,
    LEGEND,
    beside_table,
    print_beside,
    print_results,
    result_rows,
    run_notes,
)
from creval.report.terminal_tables import table_console

__all__ = ["LaidOut", "Layout", "hidden_notes", "lay_out", "layout_of"]

Layout = Literal["runs", "models", "each"]
ErrorStyle = Literal["interval", "se", "none"]
_BESIDE = 3
"""So many runs have a column each; more are rows."""


def layout_of(asked: Literal["auto"] | Layout, runs: int) -> Layout:
    """Return the layout for so many runs. Without creval-compare there is no table of models."""
    if asked != "auto":
        return asked
    if runs == 1:
        return "each"
    return "runs" if runs <= _BESIDE or find_spec("creval_compare") is None else "models"


def _of_models(name: str) -> Any:
    """Return a part of the table of models. Raises MissingPartError without creval-compare."""
    return import_installed(f"creval_compare.model_table:{name}", "creval-compare", "`creval report --layout models`")


@dataclass(frozen=True, slots=True)
class LaidOut:
    """Results with the metrics that are shown, and how; `table` for the layout `models`. `hidden`: metrics left out."""

    results: Sequence[RunResult]
    baselines: Baselines
    layout: Layout
    table: Any
    hidden: Sequence[str]

    def print(self) -> None:
        """Print the table, its notes, and how many metrics are not shown."""
        if self.layout == "each":
            print_results(self.results, self.baselines)
        elif self.table is None:
            print_beside(self.results, self.baselines)
        else:
            console = table_console()
            _of_models("print_models")(self.table, console)
            for line in self._notes("bold or *"):
                console.print(line, markup=False, soft_wrap=True)
        for line in self.hidden:
            click.echo(line)

    def text(self, form: str) -> str:
        """Return the table with its notes as Markdown or LaTeX."""
        if self.table is not None:
            return FORMATS[form](self.table.columns, self.table.rows, self._notes("bold"))
        if self.layout == "each" and len(self.results) == 1:
            columns, rows = without_empty(COLUMNS, result_rows(self.results[0], self.baselines))
            legend = []
        else:
            columns, rows = beside_table(self.results, self.baselines)
            legend = ["value (95 % interval)"]
        legend += [LEGEND] if "floor" in columns or "ceiling" in columns else []
        return FORMATS[form](columns, rows, [*(["; ".join(legend)] if legend else []), *run_notes(self.results)])

    def _notes(self, best: str) -> list[str]:
        grouped = self.table is not None and self.table.grouped
        first = f"{best}: best model (baselines do not compete); n: values of each column (docs times repeats)"
        return [first, *([_of_models("GROUPS_NOTE")] if grouped else []), *run_notes(self.results)]


def lay_out(
    results: Sequence[RunResult],
    baselines: Baselines,
    asked: Literal["auto"] | Layout = "auto",
    choice: MetricChoice | None = None,
    error: ErrorStyle = "interval",
    groups: bool = True,
) -> LaidOut:
    """Choose the metrics and the layout; `groups`: test which models differ.

    Raises UnknownNameError for a task or metric that no run has, MissingPartError for models without creval-compare.
    """
    layout = layout_of(asked, len(results))
    choice = (choice or MetricChoice())._replace(overall=layout == "models")
    shown, hidden = chosen(results, choice)
    table = None
    if layout == "models":
        table = _of_models("model_table")(shown, baselines, error, _of_models("run_letters") if groups else None)
    return LaidOut(shown, baselines, layout, table, hidden_notes(hidden, choice))


def hidden_notes(hidden: int, choice: MetricChoice) -> list[str]:
    """Say how many metrics are not shown, unless the user named those that are."""
    if not hidden or choice.metrics or choice.tasks:
        return []
    return [f"{hidden} more metric{'' if hidden == 1 else 's'}: add --all to creval report"]
