"""One table of several runs, as `creval report` prints it: a column per run, or a row per model with its groups."""

from __future__ import annotations

from dataclasses import dataclass

import click

from creval.plugin.comparing import FORMATS, LaidOut, run_notes, table_console
from creval_compare.model_table import GROUPS_NOTE, ErrorStyle, ModelTable, model_table, print_models, run_letters
from creval_compare.runs_table import print_runs, runs_legend, runs_table

__all__ = ["lay_out_models", "lay_out_runs"]


def lay_out_runs(laid: LaidOut, error: ErrorStyle = "interval", groups: bool = False) -> LaidOut:
    """Return the layout with a column per run, which always has intervals and never groups."""
    return _Runs(laid.results, laid.baselines, laid.hidden)


def lay_out_models(laid: LaidOut, error: ErrorStyle, groups: bool) -> LaidOut:
    """Return the layout with a row per model; `groups`: test which models differ."""
    table = model_table(laid.results, laid.baselines, error, run_letters if groups else None)
    return _Models(laid.results, laid.baselines, laid.hidden, table)


@dataclass(frozen=True, slots=True)
class _Runs(LaidOut):
    """One table with a column per run."""

    def print(self) -> None:
        """Print the table, its notes, and how many metrics are not shown."""
        print_runs(self.results, self.baselines)
        for line in self.hidden:
            click.echo(line)

    def text(self, form: str) -> str:
        """Return the table with its notes as Markdown or LaTeX."""
        columns, rows = runs_table(self.results, self.baselines)
        return FORMATS[form](columns, rows, [*runs_legend(self.results, columns), *run_notes(self.results)])


@dataclass(frozen=True, slots=True)
class _Models(LaidOut):
    """One table with a row per model."""

    table: ModelTable

    def print(self) -> None:
        """Print the table, its notes, and how many metrics are not shown."""
        console = table_console()
        print_models(self.table, console)
        for line in self._notes("bold or *"):
            console.print(line, markup=False, soft_wrap=True)
        for line in self.hidden:
            click.echo(line)

    def text(self, form: str) -> str:
        """Return the table with its notes as Markdown or LaTeX."""
        return FORMATS[form](self.table.columns, self.table.rows, self._notes("bold"))

    def _notes(self, best: str) -> list[str]:
        first = f"{best}: best model (baselines do not compete); n: values of each column (docs times repeats)"
        return [first, *([GROUPS_NOTE] if self.table.grouped else []), *run_notes(self.results)]
