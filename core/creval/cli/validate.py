"""`creval validate`: every problem of task and suite files, with file, line and column."""

from __future__ import annotations

from collections.abc import Sequence

import click

__all__ = ["validate"]


@click.command(epilog="Example: creval validate task_yaml/association/drat.yaml")
@click.argument("targets", nargs=-1, required=True, metavar="PATH_OR_TASK...")
@click.pass_context
def validate(ctx: click.Context, targets: Sequence[str]) -> None:
    """Check task and suite files (or folders, or task names). Exit code 2 where a problem was found."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.check import check

    problems = check(targets, load_plugins())
    for problem in problems:
        click.echo(str(problem))
    if problems:
        click.echo(f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found", err=True)
        ctx.exit(2)
    click.echo("no problems found")
