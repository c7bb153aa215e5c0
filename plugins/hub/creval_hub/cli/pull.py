"""`creval pull OWNER/NAME`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["pull"]


@click.command(epilog="Example: creval pull ada/creval-runs --output runs")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--run", "runs", multiple=True, metavar="NAME", help="One run of it; several times for several.")
@click.option("--revision", metavar="R", help="A branch, tag or commit (default: the newest state).")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Where to put them.",
)
def pull(repository: str, runs: Sequence[str], revision: str | None, output: Path) -> None:
    """Bring the runs of a dataset on the Hugging Face Hub back as run folders.

    A folder that exists is left as it is.
    """
    from creval_hub.pull import pull_runs

    for folder, new in pull_runs(repository, output, runs=runs, revision=revision):
        click.echo(f"{folder}" if new else f"{folder} (exists already)")
