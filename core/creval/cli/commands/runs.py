"""`creval runs` and `creval leaderboard DIR|REPO...`: many runs at once."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from creval.comparison.leaderboard import Standing
    from creval.runs.reader import Run

__all__ = ["leaderboard", "runs"]


@click.command(epilog="Example: creval runs runs --model 'openai/*' --task drat --status done")
@click.argument("places", metavar="[DIR]...", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--model", multiple=True, metavar="PATTERN", help="Only runs of such models, e.g. 'openai/*'.")
@click.option("--task", multiple=True, metavar="PATTERN", help="Only runs with such a task, e.g. 'kumo_*'.")
@click.option("--status", multiple=True, metavar="S", help="Only runs that are done, interrupted, failed, running ...")
@click.option("--with", "words", multiple=True, metavar="TEXT", help="Only runs whose run.json holds this text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(
    places: Sequence[Path],
    model: Sequence[str],
    task: Sequence[str],
    status: Sequence[str],
    words: Sequence[str],
    as_json: bool,
) -> None:
    """List the runs below folders (default: runs), oldest first; those that cannot be read are named last."""
    from creval.escape import json_text, visible
    from creval.report.run_search import Search, find_runs
    from creval.report.terminal_tables import print_table

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


@click.command(epilog="Example: creval leaderboard runs --html board.html")
@click.argument("places", metavar="DIR|REPO...", nargs=-1, required=True)
@click.option("--all-metrics", is_flag=True, help="Every metric, not the primary ones alone.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write the table as CSV.")
@click.option("--html", "html_file", type=click.Path(path_type=Path), help="Write the table as a page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def leaderboard(
    places: Sequence[str], all_metrics: bool, csv_file: Path | None, html_file: Path | None, as_json: bool
) -> None:
    """One table over many runs: of folders, and of datasets that creval push has filled (OWNER/NAME).

    Numbers are ranked only among those made with the same task (its hash is in the table), data, settings and
    instruments. Baselines are listed without a rank, models that cannot be told apart share a letter. Unfinished runs
    are left out and named.
    """
    from creval.comparison.leaderboard import COLUMNS, leaderboard_html
    from creval.comparison.leaderboard import leaderboard as rank
    from creval.escape import json_text
    from creval.report.output_files import write_csv, write_text

    standings = rank(list(_finished_runs(places)), every_metric=all_metrics)
    if csv_file is not None:
        write_csv(csv_file, COLUMNS, [list(asdict(one).values()) for one in standings])
    if html_file is not None:
        write_text(html_file, leaderboard_html(standings))
    if as_json:
        click.echo(json_text([asdict(one) for one in standings]))
    elif csv_file is None and html_file is None:
        _print_standings(standings)


def _finished_runs(places: Sequence[str]) -> Iterator[Run]:
    from creval.errors import UsageError
    from creval.escape import visible
    from creval.report.run_search import find_runs
    from creval.runs.reader import open_run

    folders = [path if (path := Path(place)).exists() else _pulled(place) for place in places]
    found = find_runs(folders)
    if not found:
        raise UsageError("there are no runs", where=", ".join(places), fix="Name folders with runs in them.")
    for run in found:
        if run.fault is not None or run.status not in ("done", "budget"):
            click.echo(visible(f"left out: {run.folder} ({run.fault or run.status})"), err=True)
        else:
            yield open_run(run.folder)


def _pulled(repository: str) -> Path:
    """Return the folder into which the runs of a repository were pulled."""
    from creval.cli.lazy_group import missing_distribution
    from creval.user_folders import cache_folder

    if importlib.util.find_spec("creval_hub") is None:
        raise missing_distribution(f"{repository!r} is no folder, and reading runs of the Hub", "creval-hub")
    folder = cache_folder() / "pulled" / repository.replace("/", "--")
    importlib.import_module("creval_hub.pull").pull_runs(repository, folder)
    return folder


def _print_standings(standings: Sequence[Standing]) -> None:
    from creval.comparison.comparison_tables import GROUPS_NOTE
    from creval.comparison.leaderboard import interval
    from creval.report.terminal_tables import print_table

    columns = [
        "task",
        "metric",
        "",
        "model",
        "groups",
        "value",
        "95 % interval",
        "n",
        "not scored",
        "hash",
        "instruments",
    ]
    rows = [
        [
            one.task,
            " ".join(filter(None, [one.metric, one.condition])),
            one.rank,
            one.model,
            one.apart,
            one.value,
            interval(one),
            one.n,
            one.failed,
            one.task_hash,
            ", ".join(filter(None, [one.instruments, one.settings])) or None,
        ]
        for one in standings
    ]
    print_table("", columns, rows)
    if any(one.apart for one in standings):
        click.echo(f"{GROUPS_NOTE}; baselines have no rank")
