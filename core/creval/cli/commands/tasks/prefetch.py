"""`creval prefetch`: what tasks need from the network, fetched before it is gone."""

from __future__ import annotations

from collections.abc import Sequence

import click

from creval.visible import visible

__all__ = ["prefetch"]


@click.command(epilog="Example: creval prefetch kumo_easy")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@click.option("--trust-remote-code", is_flag=True, help="Let encoders run program code that they bring.")
@click.pass_context
def prefetch(ctx: click.Context, tasks: Sequence[str], trust_remote_code: bool) -> None:
    """Fetch data, encoders and word lists of TASKs (or suites), so that they run with --offline.

    Says of each what was fetched and what was here already. Exit code 1 where something could not be had.
    """
    from creval.engine.prefetch import prefetch as fetch
    from creval.plugins.loader import load_plugins
    from creval.resources.options import ResourceOptions

    failed = 0
    names = [name for given in tasks for name in given.split(",") if name]
    for each in fetch(names, load_plugins(), ResourceOptions(trust_remote_code=trust_remote_code)):
        failed += each.state == "failed"
        click.echo(visible(f"{each.task}  {each.what}: {each.state}: {' '.join(each.about.split())}"))
    if failed:
        click.echo(f"{failed} could not be had", err=True)
        ctx.exit(1)
