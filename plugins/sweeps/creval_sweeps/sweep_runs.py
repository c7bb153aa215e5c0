"""Run several models from the command line, one after the other or concurrently, and print one table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from creval.plugin import UsageError
from creval.plugin.sweeps import (
    CURRENT,
    RunLock,
    RunOptions,
    RunResult,
    ending,
    find_baselines,
    fix_shown,
    last_words,
    lay_out,
    visible,
    watch_several,
)
from creval_sweeps.estimate_table import show_estimate
from creval_sweeps.run_file import ModelEntry, RunFile
from creval_sweeps.sweep import Outcome, Sweep, SweepRun, plan_sweep, run_sweep

__all__ = ["run_models", "start_several"]

RUNS = Path("runs")

_WORDS = {"new": "starts", "begun": "resumes", "done": "already done"}


def start_several(tasks: Sequence[str], given: Mapping[str, Any], options: RunOptions) -> int:
    """Run several models on the same tasks, and return the exit code."""
    if not tasks:
        raise UsageError("no task is named", where="--tasks", fix="List them with: creval ls")
    entries = [ModelEntry(model) for model in dict.fromkeys(given["model"])]
    words = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%z}-{len(entries)}_models-{'+'.join(tasks)}"
    folder = options.output or RUNS / re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]
    file = RunFile(tasks, entries, options, several=True, max_models=given["max_models"] or 1)
    return run_models(file, options, folder, given["dry_run"])


def run_models(file: RunFile, options: RunOptions, output: Path, dry_run: bool) -> int:
    """Complete a file's runs in `output`, print their results, and return the exit code."""
    if dry_run:
        plain = replace(options, output=None)
        return show_estimate(file.tasks, [(entry.label or entry.model, entry.applied(plain)) for entry in file.models])
    sweep = plan_sweep(file, options, output)
    if not file.several:
        (outcome,) = _make(sweep)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.finished is not None
        return ending(outcome.finished, options.allowed_error_share)
    output.mkdir(parents=True, exist_ok=True)
    with RunLock(output):
        sweep.keep()
        return _closing(_make(sweep), options, output)


def _make(sweep: Sweep) -> list[Outcome]:
    def said(part: SweepRun) -> None:
        if sweep.file.several:
            click.echo(visible(f"{part.entry.model}: {_WORDS[part.state]} ({part.folder})"), err=True)

    interruption = CURRENT.get()
    if interruption is not None:
        interruption.resume_command = f"creval run {shlex.quote(str(sweep.output))}"  # a started run sets its own
    try:
        with fix_shown(), watch_several() as watch_one:
            return run_sweep(sweep, watch_one, said)
    except KeyboardInterrupt:
        if sweep.file.several:
            words = "The other models too" if sweep.file.max_models == 1 else "Finished samples are saved. Resume with"
            click.echo(visible(f"{words}: creval run {shlex.quote(str(sweep.output))}"), err=True)
        raise


def _closing(outcomes: Sequence[Outcome], options: RunOptions, output: Path) -> int:
    """Print the one table of a sweep, notes on each run, and return the most severe exit code."""
    finished = [each.finished for each in outcomes if each.finished is not None]
    if finished:
        results = [RunResult(each.folder, each.results) for each in finished]
        lay_out(results, find_baselines(output)).print()
    click.echo(f"runs: {output}")
    codes = [last_words(each, options.allowed_error_share) for each in finished]
    for outcome in outcomes:
        if outcome.error is not None:
            click.echo(visible(f"{outcome.part.entry.model}: {outcome.error}"), err=True)
            codes.append(outcome.error.exit_code)
    if any(codes):
        click.echo(f"Resume with: creval run {output}", err=True)
    return next((code for code in (2, 3, 1, 4) if code in codes), 0)
