"""`creval report RUN...`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.cli.option_values import NewPath, runs_argument
from creval.cli.shared_options import format_options

if TYPE_CHECKING:
    from creval.api import RunResult
    from creval.report.baselines import Baselines

__all__ = ["report"]


_OWN = ("generation_overrides", "condition_overrides", "prompt_overrides", "replaced_data", "variant_of", "changed")


@click.command(epilog="Example: creval report runs/mine --baselines runs")
@runs_argument()
@click.option(
    "--baselines",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with runs of baseline/floor and baseline/ceiling (default: the folder of RUN).",
)
@click.option("--html", type=NewPath(), metavar="FILE", help="Write a page with results and samples for the browser.")
@click.option("--task", "tasks", multiple=True, metavar="T", help="Only this task; may be repeated.")
@click.option("--metric", "metrics", multiple=True, metavar="M", help="This metric, primary or not; may be repeated.")
@click.option("--all", "every", is_flag=True, help="All metrics, not only the primary ones.")
@click.option(
    "--layout", type=click.Choice(["auto", "runs", "models", "each"]), default="auto", show_default=True,
    help="runs: a column per run. models: a row per model, a column per task. each: a table per run. auto: runs for "
    "up to three, else models.",
)  # fmt: skip
@click.option(
    "--error", type=click.Choice(["interval", "se", "none"]), default="interval", show_default=True,
    help="What --layout models prints next to a value: the 95 % interval, the standard error, or nothing.",
)  # fmt: skip
@click.option("--no-groups", is_flag=True, help="With --layout models: do not test which models differ.")
@format_options
@click.pass_context
def report(
    ctx: click.Context, /, runs: Sequence[Path], baselines: Path | None, html: Path | None, **options: Any
) -> None:
    """Print the results of RUNS: primary metrics with counts by status, floor and ceiling.

    --json and --csv have a row per run and metric, with all metrics unless you choose some. --markdown and --latex
    print the same table as the terminal. If a run has no results, the others are printed, and the exit code is 2.
    --html writes a self-contained page instead of the table: results, plots and all samples.
    """
    if html is not None:
        from creval.cli.lazy_group import missing_distribution

        if importlib.util.find_spec("creval_page") is None:
            raise missing_distribution("`creval report --html`", "creval-page")
        write_page = importlib.import_module("creval_page.write_page").write_page
        click.echo(write_page(list(dict.fromkeys(runs)), html, baselines))
        return
    from creval.api import load_result
    from creval.cli.report_layout import lay_out
    from creval.cli.run_summary import baseline_notes, warnings_of
    from creval.errors import RunError, UsageError
    from creval.escape import visible
    from creval.report.baselines import find_baselines
    from creval.report.metric_choice import MetricChoice, chosen

    results, faults = [], []
    for run in dict.fromkeys(runs):
        try:
            results.append(load_result(run))
        except RunError as error:  # an unfinished run must not hide the others
            faults.append(error)
    if not results:
        raise faults[0]
    folder = baselines or runs[0].absolute().parent
    known_baselines = find_baselines(folder)
    form = options["form"]
    if form in ("json", "csv"):
        every = options["every"] or not options["metrics"]
        click.echo(
            _data(form, chosen(results, MetricChoice(options["tasks"], options["metrics"], every))[0], known_baselines),
            nl=False,
        )
    else:
        choice = MetricChoice(options["tasks"], options["metrics"], options["every"])
        laid_out = lay_out(
            results, known_baselines, options["layout"], choice, options["error"], not options["no_groups"]
        )
        if form is not None:
            click.echo(laid_out.text(form), nl=False)
        else:
            laid_out.print()
            for line in baseline_notes(laid_out.results, known_baselines, folder):
                click.echo(line, err=True)
    for warning in warnings_of(results):
        click.echo(visible(warning), err=True)
    for fault in faults:
        click.echo(visible(str(fault)), err=True)
    ctx.exit(UsageError.exit_code if faults else 0)


def _data(form: str, results: Sequence[RunResult], baselines: Baselines) -> str:
    from creval.escape import json_text
    from creval.report.output_files import FORMATS

    rows = list(_rows(results, baselines))
    if form == "json":
        return json_text(rows) + "\n"
    columns = list(dict.fromkeys(name for row in rows for name in row if name not in _OWN))
    return FORMATS[form](columns, [[row.get(name) for name in columns] for row in rows])


def _rows(results: Sequence[RunResult], baselines: Baselines) -> Iterator[dict[str, Any]]:
    """Yield one flat row per metric, with its run, floor, ceiling, and the settings that the user changed.

    If another plugin has a task of the same name, the plugin's name is added: `local/rat`.
    """
    from creval.runs.result_metrics import namesakes

    shared = namesakes(result.results for result in results)
    for result in results:
        metrics = [(task, metric) for task in result.results["tasks"] for metric in task["metrics"]]
        for row, (task, metric) in zip(result.to_rows(), metrics, strict=True):
            baseline_values = {which: baselines.value_of(task, metric, which) for which in ("floor", "ceiling")}
            context = {name: task.get(name) for name in _OWN}
            qualified_name = row.pop("qualified")
            task_name = {"task": qualified_name} if task["task"] in shared else {}
            yield {"run": str(result.folder), **row, **task_name, **baseline_values, **context}
