"""The output of `--dry-run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from creval.plugin.report import print_table
from creval.plugin.sweeps import RunOptions, visible
from creval_sweeps.estimate import EstimateRange, TaskEstimate, estimate_run, sum_of

__all__ = ["show_estimate"]

_COLUMNS = ("task", "samples", "calls", "input tokens", "output tokens", "price, $")


def show_estimate(tasks: Sequence[str], models: Sequence[tuple[str, RunOptions]]) -> int:
    """Print the expected calls, tokens and price of each model, and return the exit code: 2 if a run would not
    start.
    """
    several = len(models) > 1
    found = [(model, estimate_run(tasks, model, options)) for model, options in models]
    every = [row for _, each in found for row in each.tasks]
    rows = [[*([model] if several else []), *_row(row)] for model, each in found for row in each.tasks]
    if len(every) > 1:
        rows.append(["total", *([""] if several else []), *_row(sum_of(every))[1:]])
    name = f"{len(models)} models" if several else models[0][0]
    part = f" (shard {models[0][1].shard})" if models[0][1].shard else ""
    columns = ["model", *_COLUMNS] if several else _COLUMNS
    print_table(f"{name}{part}: what to expect, at least to at most", columns, rows)
    for note in dict.fromkeys(note for _, each in found for note in each.notes):
        click.echo(visible(note))
    missing: dict[str, list[str]] = {}
    for model, each in found:
        for words in each.missing:
            missing.setdefault(words, []).append(model)
    if not missing:
        return 0
    click.echo("Missing, so that a run would not start:", err=True)
    for words, whose in missing.items():
        first, *rest = visible(f"{', '.join(whose)}: {words}" if len(whose) < len(models) else words).splitlines()
        click.echo("\n".join([f"  {first}", *(f"    {line}" for line in rest)]), err=True)
    return 2


def _row(row: TaskEstimate) -> list[Any]:
    whole = [_range(figures, "{:,.0f}") for figures in (row.calls, row.input_tokens, row.output_tokens)]
    known = row.price.low or row.price.high is not None  # "at least 0" is not a price
    return [row.task, row.samples, *whole, _range(row.price, "{:,.2f}") if known else "not known"]


def _range(figures: EstimateRange, form: str) -> str:
    low, high = (None if figure is None else _number(figure, form) for figure in figures)
    if low is None:
        return "not known"
    return low if low == high else f"{low} to {'not known' if high is None else high}"


def _number(figure: float, form: str) -> str:
    text = form.format(figure)
    return "<0.01" if figure and text == "0.00" else text
