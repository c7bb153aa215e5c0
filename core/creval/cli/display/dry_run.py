"""`--dry-run`: what a run would take, and what is missing for it, without a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from creval.engine.run_options import RunOptions

if TYPE_CHECKING:
    from creval.engine.estimate import Figures, TaskEstimate

__all__ = ["show_estimate"]

_COLUMNS = ("task", "samples", "calls", "input tokens", "output tokens", "price, $")


def show_estimate(tasks: Sequence[str], model: str, options: RunOptions) -> int:
    """Print the calls, tokens and price to expect, and return the exit code: 2 where a run would not start."""
    from creval.engine.estimate import estimate_run
    from creval.report.tables import print_table
    from creval.visible import visible

    found = estimate_run(tasks, model, options)
    rows = [_row(row) for row in (*found.tasks, *([found.total] if len(found.tasks) > 1 else []))]
    part = f" (shard {options.shard})" if options.shard else ""
    print_table(f"{model}{part}: what to expect, at least to at most", _COLUMNS, rows)
    for note in found.notes:
        click.echo(visible(note))
    if not found.missing:
        return 0
    click.echo("Missing, so that a run would not start:", err=True)
    for words in found.missing:
        first, *rest = visible(words).splitlines()
        click.echo("\n".join([f"  {first}", *(f"    {line}" for line in rest)]), err=True)
    return 2


def _row(row: TaskEstimate) -> list[Any]:
    whole = [_range(figures, "{:,.0f}") for figures in (row.calls, row.input_tokens, row.output_tokens)]
    return [row.task, row.samples, *whole, _range(row.price, "{:,.2f}")]


def _range(figures: Figures, form: str) -> str:
    low, high = (None if figure is None else form.format(figure) for figure in figures)
    if low is None:
        return "not known"
    return low if low == high else f"{low} to {'not known' if high is None else high}"
