"""`creval export RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

__all__ = ["export"]


@click.command(epilog="Example: creval export runs/mine --format parquet --output tables")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(["every-eval-ever", "parquet"]), required=True, help="The form.")
@click.option("--output", "-o", type=click.Path(path_type=Path), required=True, help="The folder for its files.")
@click.option("--organization", metavar="NAME", help="every-eval-ever: who ran the evaluation.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="third_party",
    help="every-eval-ever: that of the organization to the model's maker (default: third_party).",
)
@click.option(
    "--deployment",
    type=click.Choice(["self_deployed", "externally_managed", "unknown"]),
    help="every-eval-ever: how the model stood (default: read off its address).",
)
@click.option(
    "--weights",
    type=click.Choice(["open_weights", "closed_weights", "unknown"]),
    default="unknown",
    help="every-eval-ever: whether the model's weights are open.",
)
@click.option("--aggregates-only", is_flag=True, help="every-eval-ever: the numbers without the samples.")
def export(run: Path, form: str, output: Path, organization: str | None, **about: Any) -> None:
    """Write RUN in a form that others read: tables in parquet, or files of Every Eval Ever 0.3.0.

    Metrics without a number or without a side that is better cannot stand in Every Eval Ever and are left out; the
    samples of a task that stores its docs by reference are refused.
    """
    from creval.runs.reader import open_run

    opened = open_run(run)
    if form == "parquet":
        from creval.exports.parquet import write_parquet

        files = write_parquet(opened, run.resolve().name, output)
    else:
        from creval.exports.every_eval_ever.about import About
        from creval.exports.every_eval_ever.files import export_every_eval_ever

        if organization is None:
            raise click.UsageError("--format every-eval-ever needs --organization NAME: who ran the evaluation")
        samples = not about.pop("aggregates_only")
        files = export_every_eval_ever(opened, output, About(organization, **about), samples=samples)
    for file in files:
        click.echo(str(file))
