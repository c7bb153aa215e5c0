"""`creval report RUN...`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["report"]


@click.command(epilog="Example: creval report runs/mine --baselines runs")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--baselines",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of runs in which to look for baseline/floor and baseline/ceiling (default: where RUN stands).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object a metric.")
def report(runs: Sequence[Path], baselines: Path | None, as_json: bool) -> None:
    """Print the results of RUNS, with the counts by status and the floor and ceiling beside each score."""
    from creval.api import load_result
    from creval.cli.baseline_notes import baseline_notes
    from creval.report.baselines import find_baselines
    from creval.report.results import print_results

    results = [load_result(run) for run in runs]
    if as_json:
        rows = [row for result in results for row in result.to_rows()]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    folder = baselines or runs[0].absolute().parent
    found = find_baselines(folder)
    print_results(results, found)
    for line in baseline_notes(results, found, folder):
        click.echo(line, err=True)
