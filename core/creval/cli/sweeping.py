"""Runs of several models, or of a run file: what is said on the way, one table, and one exit code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from creval.cli.display.ending import ending, last_words
from creval.cli.interruption import cure_shown
from creval.engine.progress.terminal import watch
from creval.engine.run_options import RunOptions
from creval.visible import visible

if TYPE_CHECKING:
    from creval.engine.run_file import RunFile
    from creval.engine.sweep import Outcome, Sweep, SweepRun

__all__ = ["run_file", "start_several"]

RUNS = Path("runs")
_WORDS = {"new": "begins", "begun": "goes on", "done": "is there already"}


def start_several(tasks: Sequence[str], models: Sequence[str], options: RunOptions, dry_run: bool) -> int:
    """Run several models on the same tasks, and return the exit code."""
    from creval.engine.run_file import ModelEntry, RunFile
    from creval.errors import UsageError

    if not tasks:
        raise UsageError("no task is named", where="--tasks", cure="List them with: creval ls")
    entries = [ModelEntry(model) for model in dict.fromkeys(models)]
    words = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%z}-{len(entries)}_models-{'+'.join(tasks)}"
    folder = options.output or RUNS / re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]
    return run_file(RunFile(tasks, entries, options, several=True), options, folder, dry_run)


def run_file(file: RunFile, options: RunOptions, output: Path, dry_run: bool) -> int:
    """Make what is missing of a file's runs in `output`, print their results, and return the exit code."""
    if dry_run:
        from creval.cli.display.dry_run import show_estimate

        plain = replace(options, output=None)
        return max(show_estimate(file.tasks, entry.model, entry.applied(plain)) for entry in file.models)
    from creval.engine.sweep import plan_sweep
    from creval.runs.lock import RunLock

    sweep = plan_sweep(file, options, output)
    if not file.several:
        (outcome,) = _made(sweep)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.finished is not None
        return ending(outcome.finished, options.allowed_error_share)
    output.mkdir(parents=True, exist_ok=True)
    with RunLock(output):
        sweep.keep()
        return _closing(_made(sweep), options, output)


def _made(sweep: Sweep) -> list[Outcome]:
    from creval.engine.sweep import run_sweep

    def said(part: SweepRun) -> None:
        if sweep.file.several:
            click.echo(visible(f"{part.entry.model}: {_WORDS[part.state]} ({part.folder})"), err=True)

    try:
        with cure_shown():
            return run_sweep(sweep, watch, said)
    except KeyboardInterrupt:
        if sweep.file.several:
            click.echo(visible(f"The other models too: creval run {sweep.output}"), err=True)
        raise


def _closing(outcomes: Sequence[Outcome], options: RunOptions, output: Path) -> int:
    """Print the one table of a sweep, what the user should know of each run, and return the gravest exit code."""
    from creval.api import RunResult
    from creval.report.baselines import find_baselines
    from creval.report.beside import print_beside

    finished = [each.finished for each in outcomes if each.finished is not None]
    if finished:
        results = [RunResult(each.folder, each.results) for each in finished]
        print_beside(results, find_baselines(output))
    click.echo(f"runs: {output}")
    codes = [last_words(each, options.allowed_error_share) for each in finished]
    for outcome in outcomes:
        if outcome.error is not None:
            click.echo(visible(f"{outcome.part.entry.model}: {outcome.error}"), err=True)
            codes.append(outcome.error.exit_code)
    if any(codes):
        click.echo(f"Go on with what is missing: creval run {output}", err=True)
    return next((code for code in (2, 3, 1, 4) if code in codes), 0)
