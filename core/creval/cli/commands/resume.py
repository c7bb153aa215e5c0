"""`creval resume RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from creval.cli import completing
from creval.cli.trusting import trust_option
from creval.cli.values import executor_of

__all__ = ["resume"]


@click.command(epilog="Example: creval resume runs/2026-01-31T120000+0000-openai_gpt-5-mini-drat")
@click.argument("run", type=click.Path(path_type=Path), shell_complete=completing.runs)
@click.option("--max-cost", type=float, metavar="USD", help="A new spending limit for the whole run.")
@click.option("--max-calls", type=click.IntRange(min=1), help="A new limit of calls for the whole run.")
@click.option("--detach", is_flag=True, help="Collect what is there, and leave again while batches are on their way.")
@click.option("--base-url", metavar="URL", help="The run's own address, where it holds what may not be stored.")
@click.option("--allow-code-execution", is_flag=True, help="Let tasks run model-written code in the sandbox, again.")
@click.option("--trust-remote-code", is_flag=True, help="Let encoders run program code that they bring, again.")
@click.option("--executor", metavar="E", help="Who carries out the samples, in place of the run's own.")
@click.option("--executor-option", multiple=True, metavar="K=V", help="A setting of that executor.")
@trust_option
@click.pass_context
def resume(ctx: click.Context, /, run: Path, **given: Any) -> None:
    """Go on with RUN: make only the samples that are missing or ended as errored, then score."""
    from creval.cli.display.ending import ending
    from creval.cli.interruption import cure_shown
    from creval.engine.progress.terminal import watch
    from creval.engine.run import resume as go_on
    from creval.runs.folder import RunFolder

    given |= executor_of(given)
    target = RunFolder.open(run).read_manifest()["roles"]["target"]
    if target.startswith("human/"):
        from creval.cli.lazy import import_installed

        play = import_installed("creval_people.playing:play_again", "creval-people", target)
        ctx.exit(play(run, resuming=given))
    with cure_shown(), watch() as observer:
        finished = go_on(run, observer, **given)
    if finished.budget is None and not observer.statuses:
        click.echo("No sample was missing: the model was asked nothing.", err=True)
    options = RunFolder.open(run).read_manifest()["options"]
    ctx.exit(ending(finished, options["allowed_error_share"]))
