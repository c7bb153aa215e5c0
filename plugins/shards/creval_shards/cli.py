"""`creval merge RUN...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from creval.plugin.commands import NewPath, complete_runs, trust_option

if TYPE_CHECKING:
    from creval_shards.merge_runs import MergedRun

__all__ = ["merge"]

_SHOWN = 8


@click.command(epilog="Example: creval merge runs/shards/* --output runs/whole")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), shell_complete=complete_runs)
@click.option("--output", "-o", type=NewPath(), metavar="RUN", required=True, help="Folder of the merged run.")
@trust_option
@click.pass_context
def merge(ctx: click.Context, /, runs: Sequence[Path], output: Path) -> None:
    """Join the shards of a run (see --shard) into one run, with samples, calls and scores in the order of an
    undivided run.

    creval refuses runs that are not shards of the same run. If shards are missing or unfinished, the exit code is 1,
    and creval resume makes the missing samples in the merged run. The shards are not changed.
    """
    from creval.plugin.shards import RunResult, command_line, find_baselines, print_results
    from creval_shards.merge_runs import merge_runs

    made = merge_runs(runs, output, command_line())
    for line in _notes(made):
        click.echo(line, err=True)
    if made.results is None:
        ctx.exit(1)
    print_results([RunResult(output, made.results)], find_baselines(output.absolute().parent))
    click.echo(f"run folder: {output}")


def _notes(made: MergedRun) -> list[str]:
    """Return notes on missing parts of the merged run, and on differing verdicts."""
    from creval.plugin.shards import resume_command, visible

    notes = []
    if made.differing:
        one = made.differing == 1
        notes.append(
            f"{made.differing} question{'' if one else 's'} to other roles had verdicts that differ: all are stored in "
            "calls/, where unused ones name the used one (instead)"
        )
    if made.results is not None:
        return notes
    if made.missing:
        named = ", ".join(map(str, made.missing[:_SHOWN]))
        more = f" and {len(made.missing) - _SHOWN} more" if len(made.missing) > _SHOWN else ""
        notes.append(f"missing shards: {named}{more}")
    lacks = [
        f"{count:,} of {made.planned:,} {what}"
        for count, what in ((made.planned - made.samples, "samples"), (made.samples - made.scores, "scores"))
        if count > 0
    ]
    said = f"{' and '.join(lacks)} are still to be made" if lacks else "a part did not finish"
    notes.append(visible(f"{made.folder}: {said}. Resume with: {resume_command(made.folder)}"))
    return notes
