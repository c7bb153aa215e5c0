"""The results table: one row a metric, with its interval, the counts by status, floor and ceiling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from creval.api import RunResult
from creval.parsing.refusal import REFUSAL_ROUTE
from creval.report.baselines import Baselines
from creval.report.settings import comparison_notes, own_settings
from creval.report.tables import print_table, table_console
from creval.shown import interval
from creval.visible import visible

__all__ = [
    "COLUMNS",
    "LEGEND",
    "count_groups",
    "counts_text",
    "interval_notes",
    "listed_names",
    "print_results",
    "result_rows",
    "served_words",
]

COLUMNS = ("task", "metric", "condition", "value", "95 % interval", "n", "floor", "ceiling", "samples")
_METRIC, _CONDITION, _BESIDE = 1, 2, (6, 7)
LEGEND = "floor, ceiling: what baseline/floor and baseline/ceiling reached on the same task and docs"
_NAMED = 8  # metrics of one note
_ORDER = ("scored", "unparsed", "truncated", "refused", "errored", "skipped")


def print_results(
    results: Sequence[RunResult], baselines: Baselines | None = None, console: Console | None = None
) -> None:
    """Print one table a run, with a line that explains the marks.

    The primary metric is bold on a terminal and carries a `*` everywhere else.
    """
    console = console or table_console()
    bold = console.is_terminal and not console.is_dumb_terminal
    legend: dict[str, None] = {}
    notes: dict[str, None] = {}
    for result in results:
        rows = result_rows(result, baselines or Baselines())
        primary = [metric["primary"] for task in result.results["tasks"] for metric in task["metrics"]]
        for row, marked in zip(rows, primary, strict=True):
            if marked:
                row[_METRIC] = _marked(row[_METRIC], bold)
                legend["bold: primary metric" if bold else "* primary metric"] = None
        empty = {index for index in (_CONDITION, *_BESIDE) if all(row[index] is None for row in rows)}
        if not empty.issuperset(_BESIDE):
            legend[LEGEND] = None
        notes.update(dict.fromkeys(interval_notes(result)))
        served = served_words(result)
        if served:
            notes[f"{visible(result.results['model'])} was served by {served}"] = None
        keep = [index for index in range(len(COLUMNS)) if index not in empty]
        title = "; ".join([f"{result.results['model']} ({result.folder.name})", *own_settings(result)])
        console.print(Text(visible(title), style="table.title"), soft_wrap=True)  # a title would break at the width
        print_table("", [COLUMNS[i] for i in keep], [[row[i] for i in keep] for row in rows], console)
    notes.update(dict.fromkeys(map(visible, comparison_notes(results))))
    for line in (["; ".join(legend)] if legend else []) + list(notes):
        console.print(line, markup=False, soft_wrap=True)


def _marked(name: str, bold: bool) -> Text | str:
    return Text(visible(name), style="bold") if bold else f"{name} *"


def result_rows(result: RunResult, baselines: Baselines) -> list[list[Any]]:
    """Return the rows of one run's table, in the columns of COLUMNS."""
    rows = []
    for task in result.results["tasks"]:
        for metric in task["metrics"]:
            rows.append(
                [
                    task["task"],
                    metric["name"],
                    metric["condition"],
                    metric["value"],
                    interval(metric),
                    metric["n"],
                    baselines.beside(task, metric, "floor"),
                    baselines.beside(task, metric, "ceiling"),
                    counts_text(metric["counts"], 0 if metric["condition"] else _refusals(task)),
                ]
            )
    return rows


def served_words(result: RunResult) -> str:
    """Return who answered, where a router said so: `Azure 20, OpenAI 4 (of 24 calls)`; empty where nobody did."""
    served: Counter[str] = Counter()
    for task in result.results["tasks"]:
        served.update(task.get("served_by") or {})
    own = str(result.results["model"]).partition("/")[0]
    if set(served) <= {own}:  # a provider that answers itself
        return ""
    named = ", ".join(f"{name} {count}" for name, count in served.most_common())
    return visible(f"{named} (of {served.total()} calls)")


def interval_notes(result: RunResult) -> Iterator[str]:
    """Say why metrics have no interval, and over what the others are where it is not docs."""
    missing: dict[str, list[str]] = {}
    trials: list[str] = []
    for task in result.results["tasks"]:
        for metric in task["metrics"]:
            name = f"{metric['name']} of {task['task']}"
            if metric.get("no_interval"):
                where = f" at {metric['condition']}" if metric["condition"] else ""
                missing.setdefault(metric["no_interval"], []).append(f"{name}{where}")
            elif metric.get("cluster") == "trial" and not metric["condition"]:
                trials.append(name)
    for reason, names in missing.items():
        yield visible(f"no interval, as {reason}: {listed_names(names)}")
    if trials:
        yield visible(f"interval over trials, not docs: {listed_names(trials)}")


def listed_names(names: Sequence[str]) -> str:
    """Return names with commas, the first ones of many."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _refusals(task: Mapping[str, Any]) -> int:
    """How many unparsed answers of a task were plain refusals."""
    return sum(count for route, count in task.get("routes", {}).items() if REFUSAL_ROUTE in route.split("; "))


def count_groups(task: Mapping[str, Any]) -> list[tuple[Mapping[str, int], list[str]]]:
    """Return the counts by status that metrics over all conditions have, each with the metrics that have them.

    A sample ends for each score by itself: with a judge that failed it lacks the judge's scores and no others.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for metric in task["metrics"]:
        if metric["condition"] is None:
            groups.setdefault(tuple(metric["counts"][name] for name in _ORDER), []).append(metric["name"])
    return [(dict(zip(_ORDER, counts, strict=True)), names) for counts, names in groups.items()]


def counts_text(counts: Mapping[str, int], refusals: int = 0) -> str:
    """Return how many samples ended in each status, those without any left out; `refusals` of the unparsed."""
    shown = {name: f"{counts[name]} {name}" for name in _ORDER if counts[name] or name == "scored"}
    if refusals and "unparsed" in shown:
        shown["unparsed"] += f" ({refusals} refusal{'s' if refusals > 1 else ''})"
    return ", ".join(shown.values())
