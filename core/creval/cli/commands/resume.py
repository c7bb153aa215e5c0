"""`creval resume RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from creval.cli import completion
from creval.cli.option_values import RunPath, executor_of
from creval.cli.shared_options import options_of_a_run_again

__all__ = ["resume"]


@click.command(epilog="Example: creval resume runs/2026-01-31T120000+0000-openai_gpt-5-mini-drat")
@click.argument("run", type=RunPath(), shell_complete=completion.runs)
@click.option("--max-cost", type=float, metavar="USD", help="New spending limit of the whole run.")
@click.option("--max-calls", type=click.IntRange(min=1), help="New request limit of the whole run.")
@click.option("--detach", is_flag=True, help="Collect finished batches and exit, even if others are pending.")
@click.option("--base-url", metavar="URL", help="The run's URL, if it was not stored because it contains a secret.")
@options_of_a_run_again
@click.pass_context
def resume(ctx: click.Context, /, run: Path, **options_given: Any) -> None:
    """Resume RUN: run only the samples that are missing or errored, then score."""
    from creval.cli.run_summary import ending
    from creval.cli.signals import fix_shown
    from creval.engine.progress.terminal import watch
    from creval.engine.run import resume as go_on
    from creval.runs.folder import RunFolder

    options_given |= executor_of(options_given)
    target = RunFolder.open(run).read_manifest()["roles"]["target"]
    if target.startswith("human/"):
        from creval.cli.lazy_group import import_installed

        play = import_installed("creval_people.playing:play_again", "creval-people", target)
        ctx.exit(play(run, resuming=options_given))
    with fix_shown(), watch() as observer:
        finished = go_on(run, observer, **options_given)
    if finished.budget is None and not observer.statuses:
        click.echo("No sample was missing: the model was not called.", err=True)
    options = RunFolder.open(run).read_manifest()["options"]
    ctx.exit(ending(finished, options["allowed_error_share"]))
