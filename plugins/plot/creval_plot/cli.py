"""`creval plot RUN...`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from creval.plugin.commands import FilePath, NewPath, runs_argument

__all__ = ["plot"]

_KINDS = ("forest", "heatmap", "curve", "pareto", "distribution", "judges")
_OPTIONS = {
    "tasks": ("--task", _KINDS),
    "metrics": ("--metric", ("forest", "heatmap", "curve", "pareto")),
    "baselines": ("--baselines", ("forest", "heatmap")),
    "over": ("--over", ("curve",)),
    "against": ("--against", ("pareto",)),
    "scores": ("--score", ("distribution", "judges")),
    "labels": ("--labels", ("judges",)),
}
"""The kinds of figures that an option applies to."""


@click.command(epilog="Example: creval plot runs/* --kind forest --width column --output forest.pdf")
@runs_argument()
@click.option(
    "--kind", type=click.Choice(_KINDS), default="forest", show_default=True,
    help="forest: models with intervals, floor and ceiling. heatmap: tasks by models. curve: values over a setting. "
    "pareto: values against cost or tokens. distribution: histograms of a score. judges: agreement of judges.",
)  # fmt: skip
@click.option(
    "--output", "-o", "outputs", type=NewPath(), multiple=True, metavar="FILE",
    help="FILE.pdf, FILE.svg or FILE.png (300 dpi); may be repeated. Default: the kind, as PDF.",
)  # fmt: skip
@click.option(
    "--width", default="column", show_default=True, metavar="W",
    help="column (3.3 inches), text (7 inches: both columns), or a number of inches.",
)  # fmt: skip
@click.option("--style", metavar="FILE", help="A matplotlib style file, or the name of a style such as grayscale.")
@click.option("--task", "tasks", multiple=True, metavar="T", help="Only this task; may be repeated.")
@click.option("--metric", "metrics", multiple=True, metavar="M", help="This metric, primary or not; may be repeated.")
@click.option(
    "--baselines", type=FilePath(), metavar="FOLDER", help="Folder with runs of baseline/floor and baseline/ceiling."
)
@click.option("--over", metavar="SETTING", help="curve: the setting on the horizontal axis, e.g. temperature.")
@click.option("--against", type=click.Choice(["cost", "tokens"]), help="pareto: the horizontal axis (default: cost).")
@click.option("--score", "scores", multiple=True, metavar="S", help="distribution, judges: the score of samples.")
@click.option("--labels", type=FilePath(), metavar="FILE", help="judges: people's labels as CSV or JSONL.")
def plot(runs: Sequence[Path], kind: str, outputs: Sequence[Path], style: str | None, width: str, **more: Any) -> None:
    """Draw the results of RUNS as a figure for a paper, and print the names of the files.

    The figures have their printed size, colours that colour-blind readers can distinguish, and fonts that
    publishers accept. docs/figures.md shows how to draw them from Python.
    """
    for name, (option, kinds) in _OPTIONS.items():
        if more[name] and kind not in kinds:
            raise click.UsageError(f"{option} is for --kind {' or '.join(kinds)}, not for {kind}")
    import creval_plot

    asked = {name: value for name, value in more.items() if value}
    if kind in ("distribution", "judges"):
        asked = _of_one_task(kind, asked)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", UserWarning)
        figure = getattr(creval_plot, kind)(runs, width=width, style=style, **asked)
    for note in dict.fromkeys(str(each.message) for each in noted if issubclass(each.category, UserWarning)):
        click.echo(note, err=True)
    for output in outputs or [Path(f"{kind}.pdf")]:
        click.echo(creval_plot.save(figure, output, style))


def _of_one_task(kind: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a figure of one task: `--task`, and `--score` of a distribution, are single values."""
    if len(asked.get("tasks", ())) > 1:
        raise click.UsageError(f"--kind {kind} is of one task: give --task once")
    if kind == "distribution" and len(asked.get("scores", ())) > 1:
        raise click.UsageError("--kind distribution is of one score: give --score once")
    found = {name: value for name, value in asked.items() if name not in ("tasks", "scores")}
    found |= {"task": asked["tasks"][0]} if "tasks" in asked else {}
    if kind == "judges":
        return {"scores": asked.get("scores", ()), **found}
    return found | ({"score": asked["scores"][0]} if "scores" in asked else {})
