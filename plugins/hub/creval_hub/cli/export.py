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
@click.option("--output", "-o", type=click.Path(path_type=Path), required=True, help="Folder for the files.")
@click.option("--organization", metavar="NAME", help="every-eval-ever: who ran the evaluation.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="third_party",
    help="every-eval-ever: relationship between the organization and the model's maker (default: third_party).",
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
@click.option("--without-texts", is_flag=True, help="Only scores: no answers, messages, docs, reasons or verdicts.")
def export(run: Path, form: str, output: Path, organization: str | None, **about: Any) -> None:
    """Export RUN as parquet tables or as files of Every Eval Ever 0.3.0.

    Every Eval Ever cannot represent a metric without a value or a direction; such metrics are left out. creval refuses
    the texts of tasks that store their docs by reference; --without-texts writes only the scores (in Every Eval
    Ever: the aggregates).
    """
    from creval.plugin import open_run

    opened, texts = open_run(run), not about.pop("without_texts")
    if form == "parquet":
        from creval_hub.exports.parquet import write_parquet

        files = write_parquet(opened, run.resolve().name, output, texts=texts)
    else:
        from creval_hub.exports.every_eval_ever.about import About
        from creval_hub.exports.every_eval_ever.export_files import export_every_eval_ever

        if organization is None:
            raise click.UsageError("--format every-eval-ever needs --organization NAME: who ran the evaluation")
        files = export_every_eval_ever(opened, output, About(organization, **about), samples=texts)
    for file in files:
        click.echo(str(file))
