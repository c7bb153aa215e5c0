"""`creval run FILE`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from creval.plugin import UsageError
from creval.plugin.commands import FilePath, NewPath, trust_option

__all__ = ["run"]

_FILES = ("sweep.yaml", "run.yaml")


@click.command(epilog="Example: creval run sweep.yaml --max-cost 5")
@click.argument("file", type=FilePath())
@click.option(
    "--model", "-m", multiple=True, metavar="M", help="Use this model instead of the file's. Repeat it for a sweep."
)
@click.option("--shard", metavar="I/N", help="Only the I-th of N fixed parts of the docs; see creval merge.")
@click.option("--max-models", type=click.IntRange(min=1), metavar="N", help="Run this many models at the same time.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop when all runs together have cost this much.")
@click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many requests of all runs together.")
@click.option("--base-url", metavar="URL", help="URL of an OpenAI-compatible server, instead of the file's.")
@click.option("--offline", is_flag=True, help="Do not use the network.")
@click.option("--batch", is_flag=True, help="Use the provider's batch API, at its lower price.")
@click.option("--detach", is_flag=True, help="With batches: exit once they are sent (exit code 4).")
@click.option("--dry-run", is_flag=True, help="Print the expected requests, tokens and cost, and exit.")
@click.option("--allow-code-execution", is_flag=True, help="Allow tasks to run model-written code in the sandbox.")
@click.option(
    "--trust-remote-code", is_flag=True, help="Allow encoders and models to run code from their own repository."
)
@click.option("--output", "-o", type=NewPath(), metavar="RUN", help="Run folder, instead of the file's.")
@click.option("--executor", metavar="E", help="Where samples run, instead of the file's executor.")
@click.option("--executor-option", multiple=True, metavar="K=V", help="Set an option of that executor.")
@trust_option
@click.pass_context
def run(ctx: click.Context, /, file: Path, model: tuple[str, ...], dry_run: bool, **given: Any) -> None:
    """Run the tasks, models and options of FILE. For a run folder, use the file in it.

    Without a FILE, `creval run --tasks A,B --model M` is the same as `creval --tasks A,B --model M`.

    If you run it again, it adds only what is missing: samples that are absent or errored, models without a run.
    Several models share one folder, with a run for each, and one table.
    """
    from creval.plugin.sweeps import command_line, executor_of
    from creval_sweeps.run_file import ModelEntry, read_run_file
    from creval_sweeps.sweep_runs import run_models

    if not file.exists() and file.name == str(file) and not file.suffix:
        fix = f"Check the path. A task is run by: creval --tasks {file} --model M"
        raise UsageError("there is no such file", where=str(file), fix=fix)
    if file.is_dir() and not any((file / name).is_file() for name in _FILES):
        fix = "Name a run folder, the folder of a sweep, or a run file."
        raise UsageError(f"the folder holds neither {' nor '.join(_FILES)}", where=str(file), fix=fix)
    path = next((file / name for name in _FILES if (file / name).is_file()), file)
    asked = read_run_file(path)
    asked = replace(asked, max_models=given.pop("max_models") or asked.max_models)
    named = given.pop("output")
    output = named or asked.output or Path("runs") / path.stem
    chosen = {name: value for name, value in executor_of(given).items() if value is not None}
    changes = {name: value for name, value in given.items() if value} | chosen
    if asked.claims is not None:
        stated = {*changes, *(["output"] if named else []), *(["model", "models"] if model else [])}
        asked.claims.check(f"creval run {shlex.quote(str(file))}", stated)
    options = replace(asked.options, **changes, command=command_line())
    if model:
        entries = [ModelEntry(one) for one in dict.fromkeys(model)]
        asked = replace(asked, models=entries, several=asked.several or len(entries) > 1)
    ctx.exit(run_models(asked, options, output, dry_run))
