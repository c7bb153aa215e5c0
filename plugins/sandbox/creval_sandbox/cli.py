"""`creval sandbox check`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from creval_sandbox.worker import Manner

__all__ = ["sandbox"]


@click.group(no_args_is_help=True, epilog="Example: creval sandbox check")
def sandbox() -> None:
    """The sandbox that runs model-written code."""


@sandbox.command(epilog="Example: creval sandbox check --mode plain")
@click.option("--mode", type=click.Choice(["nested", "plain"]), help="Require this kind of isolation.")
@click.option("--all-manners", is_flag=True, help="Check every kind that works here, not only the one in use.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(ctx: click.Context, mode: str | None, all_manners: bool, as_json: bool) -> None:
    """Run every attack of the test suite in the sandbox on this machine, and report what was contained.

    The attacks are creval's own programs, and harmless even if they are not contained. The exit code is 0 if all are
    contained, else 2.
    """
    from creval_sandbox.probe import find_manner, find_manners

    manners = find_manners(mode or "") if all_manners else iter([find_manner(mode or "")])
    checked = [_check(manner, as_json) for manner in manners]
    if as_json:
        click.echo(json.dumps(checked if all_manners else checked[0], indent=2))
    contained = all(attack["contained"] for each in checked for attack in each["attacks"])
    ctx.exit(0 if checked and contained else 2)


def _check(manner: Manner, quiet: bool) -> dict[str, Any]:
    """Run the attacks in one manner; return the name of the sandbox and the finding of each."""
    from creval.plugin.data import cache_folder
    from creval_sandbox.bubblewrap import BubblewrapSandbox
    from creval_sandbox.findings import run_attacks

    say = (lambda text: None) if quiet else click.echo
    opened = BubblewrapSandbox(manner, cache_folder(), workers=1)
    records = []
    try:
        say(f"{opened.name}, {manner.identity}")
        for finding in run_attacks(opened):
            records.append({"attack": finding.attack.name, "contained": finding.held, "ending": finding.ending})
            say(f"{'contained' if finding.held else 'BREACH   '}  {finding.attack.name} ({finding.ending})")
    finally:
        opened.close()
    held = sum(bool(record["contained"]) for record in records)
    say(f"{held} of {len(records)} attacks contained")
    return {"sandbox": opened.name, "user": str(manner.identity), "attacks": records}
