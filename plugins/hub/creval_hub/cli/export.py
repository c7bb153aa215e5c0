"""`creval export RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from creval.plugin.commands import RunPath

__all__ = ["export"]


@click.command(epilog="Example: creval export runs/mine --format parquet --output tables")
@click.argument("run", type=RunPath())
@click.option("--format", "form", type=click.Choice(["every-eval-ever", "parquet"]), required=True, help="The format.")
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
    help="every-eval-ever: how the model was deployed (default: from its address).",
)
@click.option(
    "--weights",
    type=click.Choice(["open_weights", "closed_weights", "unknown"]),
    default="unknown",
    help="every-eval-ever: whether the model's weights are open.",
)
@click.option("--without-texts", is_flag=True, help="Scores alone: no answers, messages, docs, reasons or verdicts.")
def export(run: Path, form: str, output: Path, organization: str | None, **about: Any) -> None:
    """Write RUN in a form that others read: tables in parquet, or files of Every Eval Ever 0.3.0.

    Every Eval Ever holds no metric without a number or a better side: these are left out. Texts of a task that keeps
    its docs by reference are refused; --without-texts writes the scores alone (in Every Eval Ever: the aggregates).
    """
    from creval.plugin import open_run

    opened, texts = open_run(run), not about.pop("without_texts")
    if form == "parquet":
        from creval_hub.exports.parquet import write_parquet

        files = write_parquet(opened, run.resolve().name, output, texts=texts)
    else:
        from creval_hub.exports.every_eval_ever.about import About
        from creval_hub.exports.every_eval_ever.files import export_every_eval_ever

        if organization is None:
            raise click.UsageError("--format every-eval-ever needs --organization NAME: who ran the evaluation")
        files = export_every_eval_ever(opened, output, About(organization, **about), samples=texts)
    for file in files:
        click.echo(str(file))
