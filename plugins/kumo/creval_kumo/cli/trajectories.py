"""`creval kumo trajectories`: golden games for fine-tuning."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from creval_kumo.cli.shared import game_options, sizes

__all__ = ["trajectories"]


@click.command(
    short_help="Write optimal games for fine-tuning.",
    epilog="Example: creval kumo trajectories --domain medical --count 100 --workers 1 -o golden.jsonl",
)
@game_options
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Number of trajectories.")
@click.option("--format", "form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    help="Number of processes (default: all cores).",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    default=Path("trajectories.jsonl"), show_default=True,
    help="Output file; an unfinished file of the same set is continued."
)  # fmt: skip
def trajectories(count: int, form: str, workers: int, output: Path, **given: Any) -> None:
    """Write optimal games as conversations: a symbolic knowledge book, messages, and which of them count in the loss.

    The paper trains on 99,950 of 100,000 such games of one domain and keeps the first 50 for validation. The lines do
    not depend on the number of workers. After an interruption, run the same command again.
    """
    from creval_kumo.trajectories.trajectory_lines import TrajectorySet
    from creval_kumo.trajectories.writer import write_trajectories

    started = time.monotonic()

    def progress(lines: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{lines:,} of {count:,}", nl=False, err=True)

    games = TrajectorySet(given["domain"], sizes(given), given["seed"], given["counterfactual"])
    written = write_trajectories(games, count, output, workers, progress)
    seconds = time.monotonic() - started
    rate = f" ({written.added / seconds:,.0f} a second)" if written.added and seconds > 0 else ""
    before = f", {written.found:,} were there" if written.found else ""
    click.echo(f"{written.added:,} trajectories written to {output}{rate}{before}", err=True)
