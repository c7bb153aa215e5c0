"""`creval runs`: many runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["runs"]


@click.command(epilog="Example: creval runs runs --model 'openai/*' --task drat --status done")
@click.argument("places", metavar="[DIR]...", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--model", multiple=True, metavar="PATTERN", help="Only runs of models that match, e.g. 'openai/*'.")
@click.option("--task", multiple=True, metavar="PATTERN", help="Only runs with a task that matches, e.g. 'kumo_*'.")
@click.option("--status", multiple=True, metavar="S", help="Only runs with this status, e.g. done, interrupted.")
@click.option("--with", "words", multiple=True, metavar="TEXT", help="Only runs whose run.json contains this text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(
    places: Sequence[Path],
    model: Sequence[str],
    task: Sequence[str],
    status: Sequence[str],
    words: Sequence[str],
    as_json: bool,
) -> None:
    """List the runs in folders (default: runs), oldest first; unreadable runs are listed last."""
    from creval.plugin.page import json_text, visible
    from creval.plugin.report import print_table
    from creval_page.run_search import Search, find_runs

    found = find_runs(places or [Path("runs")], Search(model, task, status, words))
    if as_json:
        click.echo(json_text([run.data() for run in found]))
        return
    rows = [
        [str(run.folder), run.model, ", ".join(run.tasks), run.status, run.started[:16], run.planned, run.cost or None]
        for run in found
        if run.fault is None
    ]
    if rows:
        print_table("", ["run", "model", "tasks", "status", "began", "planned", "USD"], rows)
    for run in found:
        if run.fault is not None:
            click.echo(visible(f"cannot be read: {run.fault}"), err=True)
    if not found:
        click.echo("no runs", err=True)
