"""`creval gate RUN --policy FILE` and `creval leaderboard DIR|REPO...`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from creval.plugin.commands import FilePath, RunPath, complete_runs, format_options

if TYPE_CHECKING:
    from creval.plugin import Run
    from creval_release.leaderboard import Standing

__all__ = ["gate", "leaderboard"]

_COLUMNS = ("tier", "task", "number", "demand", "found", "low", "high", "answer")


@click.command(
    epilog="Example: creval gate runs/today --policy release.yaml --baseline runs/yesterday\n\n"
    "Exit codes: 0 go, 10 no-go, 11 undecided, 2 invalid policy or runs."
)
@click.argument("run", type=RunPath(), shell_complete=complete_runs)
@click.option("--policy", required=True, type=FilePath(exists=True, dir_okay=False), help="The policy (YAML).")
@click.option("--baseline", type=RunPath(), metavar="RUN", help="Run to compare with, instead of the policy's.")
@click.option("--force", is_flag=True, help="Compare even if the baseline has different tasks, data or resources.")
@format_options
@click.pass_context
def gate(ctx: click.Context, /, run: Path, policy: Path, baseline: Path | None, force: bool, form: str | None) -> None:
    """Check RUN against a policy, so that a pipeline continues or stops.

    Each rule requires that a metric is at least or at most a number, or better than a baseline's, or not worse by
    more than a margin; or that a status (errored, unparsed ...) has at most some share. A rule passes if the whole
    95 % interval satisfies it, fails if none of it does, and is undecided otherwise. A critical rule must pass, a
    supporting rule must not fail, an advisory rule is only reported.
    """
    from creval.plugin import open_runs
    from creval.plugin.release import FORMATS, json_text, visible
    from creval.plugin.report import plain_data, print_table
    from creval_release.gate import EXIT_CODES, decide
    from creval_release.policy import read_policy

    read = read_policy(policy)
    (opened,) = (each.as_stored() for each in open_runs([run]))
    other = baseline or read.baseline
    baseline_run = open_runs([other])[0].as_stored() if other is not None else None
    decision, checked = decide(opened, read, baseline_run, force)
    rows = [
        [each.rule.tier, each.task, each.subject, each.rule.words, each.value, each.low, each.high, each.answer]
        for each in checked
    ]
    if form == "json":
        named = {
            "run": str(run),
            "model": opened.model,
            "baseline": None if baseline_run is None else str(baseline_run.folder),
        }
        data = {"decision": decision, **named, "policy": str(policy), "rules": plain_data(checked)}
        click.echo(json_text(data))
    elif form is not None:
        click.echo(FORMATS[form](_COLUMNS, rows), nl=False)
    else:
        print_table(read.title or f"{opened.model} against {policy.name}", _COLUMNS, rows)
        click.echo(visible(f"{decision}: {_counted([each.answer for each in checked])}"))
    ctx.exit(EXIT_CODES[decision])


def _counted(answers: Sequence[str]) -> str:
    counts = [f"{answers.count(word)} {word}" for word in _ANSWERS if word in answers]
    return f"of {len(answers)} {'rule' if len(answers) == 1 else 'rules'} {', '.join(counts)}"


_ANSWERS = ("passed", "failed", "undecided")


@click.command(epilog="Example: creval leaderboard runs --html board.html")
@click.argument("places", metavar="DIR|REPO...", nargs=-1, required=True)
@click.option("--all-metrics", is_flag=True, help="All metrics, not only the primary ones, and each condition.")
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Write the table as CSV.")
@click.option("--html", "html_file", type=click.Path(path_type=Path), help="Write the table as a page.")
@click.option("--json", "form", flag_value="json", help="Print JSON.")
@click.option("--markdown", "form", flag_value="markdown", help="Print a Markdown table.")
@click.option("--latex", "form", flag_value="latex", help="Print a LaTeX table; needs \\usepackage{booktabs}.")
def leaderboard(
    places: Sequence[str], all_metrics: bool, csv_file: Path | None, html_file: Path | None, form: str | None
) -> None:
    """Rank many runs in one table: runs in folders, and in datasets filled by creval push (OWNER/NAME).

    Runs are ranked together only if they have the same task, data, settings and resources; `made with` shows how the
    others differ, --csv and --json have the digests. Baselines have no rank; models that do not differ significantly
    share a letter. Unfinished runs are left out and listed.
    """
    from creval.plugin.release import FORMATS, json_text
    from creval.plugin.report import write_csv, write_text
    from creval_release.leaderboard import COLUMNS, leaderboard_html, overall, standings_table
    from creval_release.leaderboard import leaderboard as rank

    standings = rank(list(_finished_runs(places)), every_metric=all_metrics)
    if csv_file is not None:
        write_csv(csv_file, COLUMNS, [list(asdict(one).values()) for one in standings])
    if html_file is not None:
        write_text(html_file, leaderboard_html(standings))
    shown = standings if all_metrics else overall(standings)
    if form == "json":
        click.echo(json_text([asdict(one) for one in standings]))
    elif form is not None:
        click.echo(FORMATS[form](*standings_table(shown)), nl=False)
    elif csv_file is None and html_file is None:
        _print_standings(shown)


def _finished_runs(places: Sequence[str]) -> Iterator[Run]:
    from creval.plugin import UsageError, open_run
    from creval.plugin.release import visible, without_leftovers
    from creval_page.run_search import find_runs

    folders = without_leftovers([path if (path := Path(place)).exists() else _pulled(place) for place in places])
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
    from creval.plugin.release import cache_folder, missing_distribution

    if importlib.util.find_spec("creval_hub") is None:
        raise missing_distribution(f"{repository!r} is not a folder, and reading runs of the Hub", "creval-hub")
    folder = cache_folder() / "pulled" / repository.replace("/", "--")
    importlib.import_module("creval_hub.pull").pull_runs(repository, folder)
    return folder


def _print_standings(standings: Sequence[Standing]) -> None:
    from creval.plugin.report import print_table
    from creval_release.leaderboard import NAMES, standings_table

    columns, rows, notes = standings_table(standings)
    print_table("", columns, rows, fold=NAMES)
    for note in notes:
        click.echo(note)
