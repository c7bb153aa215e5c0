"""`creval sandbox check`."""

from __future__ import annotations

import json

import click

__all__ = ["sandbox"]


@click.group(no_args_is_help=True, epilog="Example: creval sandbox check")
def sandbox() -> None:
    """The sandbox that runs model-written code."""


@sandbox.command(epilog="Example: creval sandbox check --mode plain")
@click.option("--mode", type=click.Choice(["nested", "plain"]), help="Insist on one way of keeping programs apart.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(ctx: click.Context, mode: str | None, as_json: bool) -> None:
    """Run every attack of the test suite in the sandbox on this machine, and say what was contained.

    The attacks are creval's own programs and harmless where they are not contained. Exit code 0 where all are, 2 else.
    """
    from creval.plugin import cache_folder
    from creval_sandbox.bubblewrap import BubblewrapSandbox
    from creval_sandbox.check import run_attacks
    from creval_sandbox.probe import find_manner

    opened = BubblewrapSandbox(find_manner(mode or ""), cache_folder(), workers=1)
    try:
        records = []
        if not as_json:
            click.echo(opened.name)
        for finding in run_attacks(opened):
            records.append({"attack": finding.attack.name, "contained": finding.held, "ending": finding.ending})
            if not as_json:
                word = "contained" if finding.held else "BREACH   "
                click.echo(f"{word}  {finding.attack.name} ({finding.ending})")
    finally:
        opened.close()
    held = sum(bool(record["contained"]) for record in records)
    if as_json:
        click.echo(json.dumps({"sandbox": opened.name, "attacks": records}, indent=2))
    else:
        click.echo(f"{held} of {len(records)} attacks contained")
    ctx.exit(0 if held == len(records) else 2)
