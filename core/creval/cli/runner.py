"""`creval --tasks A,B --model M`: a run, a sweep over several models, or an estimate."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.cli.option_values import comma_list, docs_of, paths, read_roles, settings, sweeps, texts
from creval.cli.run_summary import ending, last_words
from creval.cli.signals import fix_shown
from creval.engine.progress.terminal import watch, watch_several
from creval.engine.run_options import RunOptions
from creval.escape import visible
from creval.interruption import CURRENT
from creval.models.providers.addresses import shown_addresses

if TYPE_CHECKING:
    from creval.engine.estimate import EstimateRange, TaskEstimate
    from creval.engine.run_file import RunFile
    from creval.engine.sweep import Outcome, Sweep, SweepRun

__all__ = ["command_line", "read_options", "run_file", "show_estimate", "start"]


def start(given: Mapping[str, Any]) -> int:
    """Run (or estimate) what the options of the command line ask for, and return the exit code."""
    tasks = comma_list(given["tasks"])
    options = read_options(given)
    if len(given["model"]) > 1:
        return start_several(tasks, given, options)
    model = given["model"][0] if given["model"] else ""
    if given["dry_run"]:
        return show_estimate(tasks, [(model, options)])
    provider, _, name = model.partition("/")
    if provider == "human":
        from creval.cli.lazy_group import import_installed

        play = import_installed("creval_people.playing:play_model", "creval-people", model)
        return int(play(tasks, options, name))
    from creval.engine.run import run_new

    with fix_shown(), watch() as observer:
        finished = run_new(tasks, model, options, observer)
    return ending(finished, options.allowed_error_share)


def read_options(given: Mapping[str, Any]) -> RunOptions:
    """Return the run options that the command line states. Raises click.UsageError or UsageError."""
    return RunOptions(
        limit=given["limit"],
        few_shot=given["few_shot"],
        system=given["system"],
        docs=docs_of(given["sample_id"], given["docs"]),
        shard=given["shard"],
        repeats=given["repeats"],
        seed=given["seed"],
        offline=given["offline"],
        output=given["output"],
        roles=read_roles(given["role"]),
        resources=texts(given["resource"], "--resource"),
        data=paths(given["data"], "--data"),
        generation=settings(given["generation"], "--generation"),
        conditions=sweeps(given["condition"], "--condition"),
        base_url=given["base_url"],
        concurrency=given["concurrency"],
        timeout=given["timeout"],
        max_retries=given["max_retries"],
        rate_limit_wait=given["rate_limit_wait"],
        max_cost=given["max_cost"],
        max_calls=given["max_calls"],
        reuse=tuple(given["reuse"]),
        cache=given["cache"],
        batch=given["batch"],
        batch_size=given["batch_size"],
        detach=given["detach"],
        allowed_error_share=given["allowed_error_share"],
        allow_code_execution=given["allow_code_execution"],
        trust_remote_code=given["trust_remote_code"],
        command=command_line(),
        executor=given["executor"],
        executor_options=texts(given["executor_option"], "--executor-option"),
    )


def command_line() -> str:
    """Return the command line for the manifest, without what may be a secret in its addresses."""
    return shlex.join(["creval", *map(shown_addresses, sys.argv[1:])])


_COLUMNS = ("task", "samples", "calls", "input tokens", "output tokens", "price, $")


def show_estimate(tasks: Sequence[str], models: Sequence[tuple[str, RunOptions]]) -> int:
    """Print the calls, tokens and price to expect of each model, and return the exit code: 2 where a run would not
    start.
    """
    from creval.engine.estimate import estimate_run, sum_of
    from creval.report.terminal_tables import print_table

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
    known = row.price.low or row.price.high is not None  # at least nothing is no price
    return [row.task, row.samples, *whole, _range(row.price, "{:,.2f}") if known else "not known"]


def _range(figures: EstimateRange, form: str) -> str:
    low, high = (None if figure is None else _number(figure, form) for figure in figures)
    if low is None:
        return "not known"
    return low if low == high else f"{low} to {'not known' if high is None else high}"


def _number(figure: float, form: str) -> str:
    text = form.format(figure)
    return "<0.01" if figure and text == "0.00" else text


RUNS = Path("runs")

_WORDS = {"new": "begins", "begun": "goes on", "done": "is there already"}


def start_several(tasks: Sequence[str], given: Mapping[str, Any], options: RunOptions) -> int:
    """Run several models on the same tasks, and return the exit code."""
    from creval.engine.run_file import ModelEntry, RunFile
    from creval.errors import UsageError

    if not tasks:
        raise UsageError("no task is named", where="--tasks", fix="List them with: creval ls")
    entries = [ModelEntry(model) for model in dict.fromkeys(given["model"])]
    words = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%z}-{len(entries)}_models-{'+'.join(tasks)}"
    folder = options.output or RUNS / re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]
    file = RunFile(tasks, entries, options, several=True, max_models=given["max_models"] or 1)
    return run_file(file, options, folder, given["dry_run"])


def run_file(file: RunFile, options: RunOptions, output: Path, dry_run: bool) -> int:
    """Make what is missing of a file's runs in `output`, print their results, and return the exit code."""
    if dry_run:
        plain = replace(options, output=None)
        return show_estimate(file.tasks, [(entry.label or entry.model, entry.applied(plain)) for entry in file.models])
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

    interruption = CURRENT.get()
    if interruption is not None:
        interruption.resume_command = f"creval run {shlex.quote(str(sweep.output))}"  # a run that begins names itself
    try:
        with fix_shown(), watch_several() as watch_one:
            return run_sweep(sweep, watch_one, said)
    except KeyboardInterrupt:
        if sweep.file.several:
            words = "The other models too" if sweep.file.max_models == 1 else "Finished samples are saved. Resume with"
            click.echo(visible(f"{words}: creval run {shlex.quote(str(sweep.output))}"), err=True)
        raise


def _closing(outcomes: Sequence[Outcome], options: RunOptions, output: Path) -> int:
    """Print the one table of a sweep, what the user should know of each run, and return the gravest exit code."""
    from creval.api import RunResult
    from creval.cli.report_layout import lay_out
    from creval.report.baselines import find_baselines

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
