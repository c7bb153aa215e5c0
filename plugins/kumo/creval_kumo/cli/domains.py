"""`creval kumo domains`: the shipped domains, and checks of others."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["domains"]


@click.command(
    short_help="List the domains, or check files of domains.",
    epilog="Example: creval kumo domains --json",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON: one object per domain.")
def domains(files: tuple[Path, ...], as_json: bool) -> None:
    """List the shipped domains; with FILES, check these domain files instead.

    A check prints every fault with its line; the exit code is 2 if there is one.
    """
    if files:
        from creval_kumo.domains.check_domains import main

        click.get_current_context().exit(main([str(file) for file in files]))
    from creval.plugin.report import print_table
    from creval_kumo.domains import domain_names, load_domain

    loaded = [load_domain(name) for name in domain_names()]
    rows = [
        (one.name, one.title, len(one.truths), len(one.actions), sum(len(action.outcomes) for action in one.actions))
        for one in loaded
    ]
    names = ("domain", "title", "truths", "actions", "outcomes")
    if as_json:
        click.echo(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=2, ensure_ascii=False))
    else:
        print_table(f"{len(rows)} domains", names, rows)
