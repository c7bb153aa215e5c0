"""`creval score RUN`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["score"]


@click.command(epilog="Example: creval score runs/mine --resource embedding=embedded/minilm")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--resource", multiple=True, metavar="NAME=R", help="Another instrument, e.g. embedding=embedded/minilm.")
@click.pass_context
def score(ctx: click.Context, run: Path, resource: Sequence[str]) -> None:
    """Score the saved answers of RUN again, with the tasks as they are now; no target model is asked."""
    from creval.cli.ending import ending
    from creval.cli.progress import watch
    from creval.cli.values import texts
    from creval.engine.run import rescore

    with watch() as observer:
        finished = rescore(run, texts(resource, "--resource"), observer)
    ctx.exit(ending(finished, 1.0))
