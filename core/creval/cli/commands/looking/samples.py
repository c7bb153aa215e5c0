"""`creval samples RUN`."""

from __future__ import annotations

from pathlib import Path

import click

from creval.cli import completing
from creval.cli.values import FilePath

__all__ = ["samples"]

_REASON = 80


@click.command(epilog="Example: creval samples runs/mine --status unparsed")
@click.argument("run", type=FilePath(), shell_complete=completing.runs)
@click.option("--task", metavar="T", help="Only this task.")
@click.option("--status", metavar="S", help="Only samples that ended so, e.g. unparsed or errored.")
@click.option("--doc", metavar="ID", help="Only this doc.")
@click.option("--condition", metavar="C", help="Only this condition.")
@click.option("--text", metavar="WORDS", help="Only samples with these words in an answer.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Rows shown in the table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: a line a sample, all of them.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, all of them; --docs takes such a file.")
def samples(run: Path, limit: int, as_json: bool, as_csv: bool, **wanted: str | None) -> None:
    """List the samples of RUN: key, status, how the answer was read, and the scores."""
    import itertools

    from creval.report.files import csv_text
    from creval.report.looking.rows import Filter, seen_samples
    from creval.report.tables import print_table
    from creval.runs.reader import open_run
    from creval.visible import json_text, visible

    rows = (seen.to_row() for seen in seen_samples(open_run(run, as_stored=True), Filter(**wanted)))
    if as_json:
        for row in rows:
            click.echo(json_text(row, indent=None))
        return
    listed = list(rows) if as_csv else list(itertools.islice(rows, limit))
    more = 0 if as_csv else sum(1 for _ in rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    if as_csv:
        click.echo(csv_text(names, [[row.get(name) for name in names] for row in listed]), nl=False)
        return
    if not listed:
        asked = " ".join(f"--{name} {value}" for name, value in wanted.items() if value is not None)
        click.echo(visible(f"no sample fits {asked}" if asked else "no sample is finished yet"), err=True)
        return
    names = [name for name in names if name not in ("task", "doc", "condition", "repeat")]
    names = [name for name in names if name == "status" or any(row.get(name) is not None for row in listed)]
    cells = [[_short(row.get(name)) if name == "reason" else row.get(name) for name in names] for row in listed]
    print_table("", names, cells)
    if more:
        click.echo(f"and {more} more (--limit {len(listed) + more}, or --csv)", err=True)
    click.echo(visible(f"One of them whole: creval sample {run} '{listed[0]['key']}'"), err=True)


def _short(reason: object) -> str | None:
    if reason is None:
        return None
    text = " ".join(str(reason).split())
    return text if len(text) <= _REASON else f"{text[:_REASON]}…"
