"""`creval pull OWNER/NAME`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["pull"]


@click.command(epilog="Example: creval pull ada/creval-runs --output runs")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--run", "runs", multiple=True, metavar="NAME", help="Only this run; may be repeated.")
@click.option("--revision", metavar="R", help="Branch, tag or commit (default: the newest commit).")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder for the runs.",
)
def pull(repository: str, runs: Sequence[str], revision: str | None, output: Path) -> None:
    """Download the runs of a dataset on the Hugging Face Hub as run folders.

    Existing folders are not changed.
    """
    from creval_hub.pull import pull_runs

    for folder, new in pull_runs(repository, output, runs=runs, revision=revision):
        click.echo(f"{folder}" if new else f"{folder} (exists already)")
