"""`creval compare RUN RUN...`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from creval.plugin import RunError, counted
from creval.plugin.commands import format_options, runs_argument

if TYPE_CHECKING:
    from pathlib import Path

    from creval_compare.compare_runs import Compared
    from creval_compare.metric_comparison import Comparison

__all__ = ["compare"]


@click.command(epilog="Example: creval compare runs/yesterday runs/today --metric success --margin 0.02")
@runs_argument()
@click.option("--task", "tasks", multiple=True, metavar="T", help="Only this task; may be repeated.")
@click.option("--metric", "metrics", multiple=True, metavar="M", help="This metric, primary or not; may be repeated.")
@click.option("--all", "every", is_flag=True, help="All metrics, and the values under each condition.")
@click.option("--primary", is_flag=True, help="Only the primary metrics, in --json and --csv too.")
@click.option(
    "--margin", "margins", multiple=True, metavar="[M=]X",
    help="Largest difference that does not matter, in the metric's unit: for all metrics, or for M.",
)  # fmt: skip
@click.option("--flips", "most_flips", type=click.IntRange(0), default=10, show_default=True, metavar="N",
    help="List at most N docs that only one run solved.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Compare even runs with different tasks, data or resources.")
@format_options
def compare(
    runs: Sequence[Path],
    tasks: Sequence[str],
    metrics: Sequence[str],
    margins: Sequence[str],
    form: str | None,
    **more: int,
) -> None:
    """Compare two RUNS doc by doc, or rank several.

    For each metric over the docs that all runs have: the difference with its 95 % interval, a test (exact McNemar if
    each doc has one score of 0 or 1, else the swap test over docs), the minimum detectable difference (80 % power),
    and a verdict: better, worse, equivalent (within --margin), or cannot tell. The p-values of the primary metrics,
    or of those named with --metric, are adjusted together by Holm. Tables show the primary metrics unless you choose
    others; --json and --csv have all.
    """
    from creval.plugin.comparing import FORMATS, json_text, visible
    from creval_compare import compare_runs

    short = not (more["every"] or metrics or form in ("json", "csv"))
    found = compare_runs.compare(
        runs,
        tasks=tasks,
        metrics=metrics,
        primary=short or bool(more["primary"]),
        margin=_margins(margins),
        force=bool(more["force"]),
    )
    if found.comparisons and not any(each.docs for each in found.comparisons):
        raise RunError("\n".join(found.notes[:3]))
    hidden: list[str] = []
    if short:
        found, hidden = found.shortened()
    if form == "json":
        click.echo(json_text(found.to_data()))
        return
    if form is not None:
        notes = [*([found.order] if len(found.runs) == 2 else []), found.legend, *_pairing_notes(found.comparisons)]
        notes += hidden
        click.echo(FORMATS[form](*(found.table() if form == "csv" else found.readable_table()), notes), nl=False)
    else:
        _print(found, more["most_flips"], hidden)
    for note in found.notes:
        click.echo(visible(note), err=True)


def _print(found: Compared, most_flips: int, hidden: Sequence[str]) -> None:
    from creval.plugin.comparing import print_table, visible
    from creval_compare.comparison_tables import flips

    columns, rows = found.readable_table()
    pair = len(found.runs) == 2
    title = found.order if pair else f"{len(found.runs)} runs, best first"
    if pair:
        click.echo(visible(title))
    print_table("" if pair else title, columns, rows, fold=("task", "metric", "condition", "run", "next", "verdict"))
    click.echo(found.legend)
    for line in flips(found.comparisons, most_flips) if pair and most_flips else ():
        click.echo(visible(line))
    for line in (*_pairing_notes(found.comparisons), *hidden):
        click.echo(visible(line))


def _pairing_notes(found: Sequence[Comparison]) -> list[str]:
    """Return which docs are left out, and where runs are not paired."""
    lines = dict.fromkeys(
        f"{each.task}, {each.metric}: {counted(each.left_out, 'docs')} with a value in some runs only: left out"
        for each in found
        if each.left_out
    )
    lines |= dict.fromkeys(
        f"{each.task}, {each.metric}: every try counts for itself: runs are not paired, and docs is the number of tries"
        for each in found
        if each.unit == "trial"
    )
    return list(lines)


def _margins(values: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for value in values:
        name, _, text = value.rpartition("=")
        try:
            margin = float(text)
        except ValueError:
            margin = -1.0
        if not 0 < margin < float("inf"):
            raise click.UsageError(f"--margin takes a positive number, or METRIC=NUMBER, not {value!r}")
        if name in found:
            raise click.UsageError(f"--margin {name or 'for all metrics'} is given twice; keep one of them")
        found[name] = margin
    return found
