"""`creval prefetch`: what tasks need from the network."""

from __future__ import annotations

from collections.abc import Sequence

import click

__all__ = ["prefetch"]


@click.command(epilog="Example: creval prefetch kumo_easy")
@click.argument("tasks", nargs=-1, required=True, metavar="TASK...")
@click.option("--trust-remote-code", is_flag=True, help="Allow encoders to run code from their own repository.")
@click.pass_context
def prefetch(ctx: click.Context, tasks: Sequence[str], trust_remote_code: bool) -> None:
    """Download the data, encoders and word lists of TASKs (or suites), so that they run with --offline.

    Prints what was downloaded and what was already there, and for data at the newest commit the line that pins it.
    The exit code is 1 if something was not available.
    """
    from creval.plugin import ResourceOptions
    from creval.plugin.loading import load_plugins, visible
    from creval_datasets.prefetch import prefetch as fetch

    failed = 0
    names = [name for given in tasks for name in given.split(",") if name]
    for each in fetch(names, load_plugins(), ResourceOptions(trust_remote_code=trust_remote_code)):
        failed += each.state == "failed"
        click.echo(visible(f"{each.task}  {each.what}: {each.state}: {' '.join(each.about.split())}"))
        if each.pin:
            click.echo(visible(f"{each.task}  to pin this commit: dataset: {{revision: {each.pin}}}"))
    if failed:
        click.echo(f"{failed} are not available", err=True)
        ctx.exit(1)
