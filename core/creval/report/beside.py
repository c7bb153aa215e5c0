"""Several runs as one table: a row a metric, a column a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from creval.api import RunResult
from creval.report.baselines import Baselines
from creval.report.results import LEGEND, count_groups, counts_text, interval_notes, listed_names, served_words
from creval.report.settings import comparison_notes, own_settings
from creval.report.tables import print_table, table_console
from creval.shown import decimals, number
from creval.visible import visible

__all__ = ["beside_table", "labels", "print_beside"]

_LEADING = ("task", "metric", "condition")
_TRAILING = ("floor", "ceiling")


def labels(named: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each (model, folder): the model where no other has it, else with the folder's name."""
    models = [model for model, _ in named]
    return [model if models.count(model) == 1 else f"{model} ({folder})" for model, folder in named]


def print_beside(results: Sequence[RunResult], baselines: Baselines, console: Console | None = None) -> None:
    """Print the table, then what a reader has to know of the runs."""
    console = console or table_console()
    columns, rows = beside_table(results, baselines, marks=True)
    print_table("", columns, rows, console)
    legend = ["value (95 % interval)", "* primary metric"]
    notes = dict.fromkeys([*(["; ".join([*legend, LEGEND] if "floor" in columns else legend)])])
    for result, name in zip(results, _names(results), strict=True):
        served = served_words(result)
        said = [*own_settings(result), *_unscored(result), *interval_notes(result)]
        said += [f"served by {served}"] if served else []
        notes |= dict.fromkeys(f"{name}: {words}" for words in said)
    for name, tasks in _namesakes(results).items():
        notes[f"{' and '.join(tasks)} are different tasks called {name}: their numbers are in rows of their own"] = None
    notes |= dict.fromkeys(comparison_notes(results))
    for line in notes:
        console.print(visible(line), markup=False, soft_wrap=True)


def beside_table(
    results: Sequence[RunResult], baselines: Baselines, marks: bool = False
) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows. Columns that hold nothing are left out; `marks` puts a star at primary metrics.

    The rows are the metrics of all runs in the order of the first run that has them. Tasks of one name from different
    plugins have rows of their own, with the plugin before the name.
    """
    namesakes = _namesakes(results)
    cells: dict[tuple[str, str, str | None], dict[int, Mapping[str, Any]]] = {}
    beside: dict[tuple[str, str, str | None], list[float | None]] = {}
    for place, result in enumerate(results):
        for task in result.results["tasks"]:
            for metric in task["metrics"]:
                named = task["qualified"] if task["task"] in namesakes else task["task"]
                key = (named, metric["name"], metric["condition"])
                cells.setdefault(key, {})[place] = metric
                known = beside.setdefault(key, [None, None])
                for i, which in enumerate(_TRAILING):
                    known[i] = baselines.beside(task, metric, which) if known[i] is None else known[i]
    rows: list[list[Any]] = []
    for (task_name, name, condition), found in cells.items():
        star = " *" if marks and any(metric["primary"] for metric in found.values()) else ""
        values = [_cell(found.get(place)) for place in range(len(results))]
        rows.append([task_name, f"{name}{star}", condition, *values, *beside[task_name, name, condition]])
    columns = [*_LEADING, *_names(results), *_TRAILING]
    keep = [i for i, column in enumerate(columns) if any(row[i] is not None for row in rows) or column not in _OPTIONAL]
    return [columns[i] for i in keep], [[row[i] for i in keep] for row in rows]


_OPTIONAL = ("condition", *_TRAILING)


def _names(results: Sequence[RunResult]) -> list[str]:
    return labels([(str(result.results["model"]), result.folder.name) for result in results])


def _cell(metric: Mapping[str, Any] | None) -> str | None:
    if metric is None or metric["value"] is None:
        return None
    places = decimals(metric["value"])
    said = number(metric["value"], places)
    if metric["ci_low"] is None:
        return said
    return f"{said} ({number(metric['ci_low'], places)} to {number(metric['ci_high'], places)})"


def _unscored(result: RunResult) -> Iterator[str]:
    """Say how the samples of a task ended where not all are scored; of which metrics, where these differ."""
    for task in result.results["tasks"]:
        groups = count_groups(task)
        for counts, names in groups:
            if counts["scored"] < sum(counts.values()):
                which = f" {listed_names(names)}:" if len(groups) > 1 else ""
                yield f"{task['task']}:{which} {counts_text(counts)}"


def _namesakes(results: Sequence[RunResult]) -> dict[str, list[str]]:
    """Return the tasks that share a short name, by it: association/rat and a local rat are two tasks."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for task in result.results["tasks"]:
            found.setdefault(task["task"], {})[task.get("qualified", task["task"])] = None
    return {name: list(qualified) for name, qualified in found.items() if len(qualified) > 1}
