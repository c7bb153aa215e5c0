"""`creval registry`: the published plugins, checked as a bot checks them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from creval.visible import visible

__all__ = ["registry"]


@click.group(no_args_is_help=True, epilog="Example: creval registry check --help")
def registry() -> None:
    """Published plugins: one file each, which `creval ls --registry` lists."""


@registry.command(epilog="Example: creval registry check association")
@click.argument("plugins", nargs=-1)
@click.option("--entries", type=click.Path(path_type=Path), help="The folder of entries (those shipped with creval).")
@click.option("--find-links", type=click.Path(path_type=Path), metavar="DIR", help="A folder of wheels to take first.")
@click.option("--shared", is_flag=True, help="Third-party packages are this environment's; no network is used.")
@click.pass_context
def check(
    ctx: click.Context, plugins: Sequence[str], entries: Path | None, find_links: Path | None, shared: bool
) -> None:
    """Install each entry's package into an empty environment and check version, tasks, hashes and every rule.

    The rules are those of a plugin's own tests; floor and ceiling are played. Exit code 1 where anything is wrong.
    """
    from creval.catalogue.check_entry import Source, check_entry
    from creval.catalogue.registry_entries import SHIPPED, read_entries

    if find_links is not None and not find_links.is_dir():
        raise click.UsageError(f"--find-links: there is no folder {find_links}")
    if shared and find_links is None:
        raise click.UsageError("--shared installs from a folder of wheels alone: add --find-links DIR")
    broken = 0
    for entry in read_entries(plugins, entries or SHIPPED):
        for each in check_entry(entry, Source(find_links, shared)):
            broken += bool(each.faults)
            state = "FAULTY" if each.faults else "ok"
            click.echo(visible(f"{entry.plugin} {entry.version}  {each.name}: {state}"))
            for fault in each.faults:
                click.echo(visible(f"    {fault}"))
    if broken:
        ctx.exit(1)
