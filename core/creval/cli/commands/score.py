"""`creval score RUN`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from creval.cli import completion
from creval.cli.option_values import FilePath, NewPath, RunPath, executor_of
from creval.cli.shared_options import options_of_a_run_again

__all__ = ["score"]


@click.command(epilog="Example: creval score runs/mine --task-file drat.yaml --output runs/mine-again")
@click.argument("run", type=RunPath(), shell_complete=completion.runs)
@click.option(
    "--task-file", "task_files", multiple=True, type=FilePath(), metavar="FILE", help="Another YAML file for a task."
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="TASK",
    help="Also score by this task, which sends the same requests.",
    shell_complete=completion.tasks,
)
@click.option("--output", "-o", type=NewPath(), metavar="RUN2", help="New run folder; RUN keeps its scores.")
@click.option(
    "--resource", multiple=True, metavar="NAME=R", help="Use another resource, e.g. embedding=embedded/minilm."
)
@click.option("--role", multiple=True, metavar="ROLE=M", help="Another model of a role, e.g. judge=openai/gpt-5-mini.")
@click.option(
    "--reuse", multiple=True, type=click.Path(path_type=Path), metavar="RUN", help="Reuse the judges' verdicts of RUN."
)
@click.option("--max-cost", type=float, metavar="USD", help="Stop when this scoring has cost this much.")
@click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many requests of this scoring.")
@click.option("--batch", is_flag=True, help="Call judges through the provider's batch API, at its lower price.")
@click.option("--detach", is_flag=True, help="With --batch: exit once the batches are sent (exit code 4).")
@options_of_a_run_again
@click.pass_context
def score(
    ctx: click.Context,
    /,
    run: Path,
    resource: Sequence[str],
    role: Sequence[str],
    reuse: Sequence[Path],
    **options: Any,
) -> None:
    """Score the saved answers of RUN again with the current tasks, without calling the target model.

    --task-file scores with another YAML file of a task that sends the same requests: other parsers, scorers,
    metrics. --task adds a variant (or any task) with the same requests as a task of RUN. Stored verdicts of a judge
    are reused; those of other judges are kept.
    """
    from creval.cli.option_values import read_roles, texts
    from creval.cli.run_summary import ending
    from creval.cli.signals import fix_shown
    from creval.engine.progress.terminal import watch
    from creval.engine.run import rescore
    from creval.engine.run_options import Rescoring

    options |= executor_of(options)
    rescoring = Rescoring(texts(resource, "--resource"), read_roles(role), reuse=tuple(reuse), **options)
    with fix_shown(), watch() as observer:
        finished = rescore(run, rescoring, observer)
    ctx.exit(ending(finished, 1.0))
