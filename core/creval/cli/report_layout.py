"""How several runs are laid out on the terminal: a column per run, or a row per model with its significance groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import click

from creval.api import RunResult
from creval.comparison.comparison_tables import GROUPS_NOTE
from creval.comparison.significance_groups import significance_groups
from creval.errors import CrevalError
from creval.report.baselines import Baselines
from creval.report.metric_choice import MetricChoice, chosen
from creval.report.model_table import Column, ModelTable, model_table, print_models
from creval.report.result_tables import print_beside, print_results, run_notes
from creval.report.terminal_tables import table_console
from creval.runs.reader import open_run

__all__ = ["Layout", "hidden_notes", "layout_of", "print_layout", "print_primary", "run_letters"]

Layout = Literal["runs", "models", "each"]
_BESIDE = 3
"""So many runs have a column each; more are rows."""


def layout_of(asked: Literal["auto"] | Layout, runs: int) -> Layout:
    """Return the layout for so many runs."""
    if asked != "auto":
        return asked
    return "each" if runs == 1 else "runs" if runs <= _BESIDE else "models"


def run_letters(column: Column, results: Sequence[RunResult]) -> list[str] | None:
    """Return the significance groups of runs in a column of a table of models; None where they are not known."""
    try:
        runs = [open_run(result.folder) for result in results]
    except CrevalError:
        return None
    return significance_groups(runs, column.task.rpartition("/")[2], column.metric, column.condition)


def print_layout(
    results: Sequence[RunResult], baselines: Baselines, layout: Layout, table: ModelTable | None = None
) -> None:
    """Print the results in a layout; `table` is needed for `models`."""
    if layout == "each":
        print_results(results, baselines)
    elif layout == "runs" or table is None:
        print_beside(results, baselines)
    else:
        console = table_console()
        print_models(table, console)
        notes = ["bold or *: best model (baselines do not compete); n: values of each column (docs times repeats)"]
        notes += [GROUPS_NOTE] if table.grouped else []
        for line in [*notes, *run_notes(results)]:
            console.print(line, markup=False, soft_wrap=True)


def print_primary(results: Sequence[RunResult], baselines: Baselines) -> None:
    """Print the primary metrics of runs as `creval report` does."""
    layout = layout_of("auto", len(results))
    shown, hidden = chosen(results, MetricChoice(overall=layout == "models"))
    table = model_table(shown, baselines, letters=run_letters) if layout == "models" else None
    print_layout(shown, baselines, layout, table)
    for line in hidden_notes(hidden, MetricChoice()):
        click.echo(line)


def hidden_notes(hidden: int, choice: MetricChoice) -> list[str]:
    """Say how many metrics are not shown, unless the user named those that are."""
    if not hidden or choice.metrics or choice.tasks:
        return []
    return [f"{hidden} more metric{'' if hidden == 1 else 's'}: add --all to creval report"]
