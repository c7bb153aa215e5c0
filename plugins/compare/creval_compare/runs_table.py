"""The table of several runs: one row per metric, one column per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from creval.plugin.comparing import (
    FIT,
    GAP,
    LEGEND,
    Baselines,
    RunResult,
    cell,
    decimals,
    fold_name,
    labels,
    line_width,
    namesakes,
    number,
    print_table,
    run_notes,
    table_console,
    visible,
    without_empty,
)

__all__ = ["print_runs", "runs_legend", "runs_table"]

_LEADING = ("task", "metric", "condition")

_CONDITION = _LEADING.index("condition")

_BASELINES = ("floor", "ceiling")


def print_runs(results: Sequence[RunResult], baselines: Baselines, console: Console | None = None) -> None:
    """Print the table, then the notes on the runs."""
    console = console or table_console()
    columns, rows = runs_table(results, baselines, marks=True)
    print_table("", *_folded(columns, rows), console)
    for line in [*runs_legend(results, columns, marks=True), *run_notes(results)]:
        console.print(visible(line), markup=False, emoji=False, soft_wrap=True)


def runs_legend(results: Sequence[RunResult], columns: Sequence[str], marks: bool = False) -> list[str]:
    """Return the line that explains a table of `runs_table`: only what is in it; none if nothing is to explain."""
    metrics = [metric for result in results for task in result.results["tasks"] for metric in task["metrics"]]
    known = {
        "value (95 % interval)": any(metric["ci_low"] is not None for metric in metrics),
        "* primary metric": marks and any(metric["primary"] for metric in metrics),
        LEGEND: not set(_BASELINES).isdisjoint(columns),
    }
    legend = "; ".join(words for words, used in known.items() if used)
    return [legend] if legend else []


def _folded(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
    """Return columns and rows with names on several lines, as far as necessary to fit into FIT columns."""
    texts = [list(map(cell, row)) for row in rows]
    for width in (0, 24, 18, 14, 12, 10):
        heads = [fold_name(column, width) if width else column for column in columns]
        named = [[*(fold_name(text, width) if width else text for text in row[:2]), *row[2:]] for row in texts]
        if 0 < width <= 12:  # the last resort: the interval below its value, its ends below each other
            named = [[*row[:2], *(_stacked(text, width < 12) for text in row[2:])] for row in named]
        used = sum(max(line_width(row[i]) for row in [heads, *named]) + GAP for i in range(len(heads)))
        if used <= FIT:
            break
    else:
        if _LEADING[_CONDITION] in columns:
            joined = [[row[0], " ".join(filter(None, row[1 : _CONDITION + 1])), *row[_CONDITION + 1 :]] for row in rows]
            return _folded([name for name in columns if name != _LEADING[_CONDITION]], joined)
    return heads, [
        [text if i < 2 or isinstance(row[i], str) else row[i] for i, text in enumerate(folded)]
        for folded, row in zip(named, rows, strict=True)
    ]


def _stacked(text: str, ends: bool) -> str:
    """Set an interval below its value, with `ends` each end on its own line; a condition is wrapped after its name."""
    text = text.replace(" (", "\n(")
    return text.replace(" to ", "\nto ").replace("=", "=\n", 1) if ends else text


def runs_table(
    results: Sequence[RunResult], baselines: Baselines, marks: bool = False
) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows, without empty columns; `marks` puts a star at primary metrics.

    The rows are the metrics of all runs in the order of the first run that has them. Tasks of different plugins with
    the same name have separate rows, with the plugin before the name.
    """
    shared = namesakes(result.results for result in results)
    cells: dict[tuple[str, str, str | None], dict[int, Mapping[str, Any]]] = {}
    baseline_values: dict[tuple[str, str, str | None], list[float | None]] = {}
    for place, result in enumerate(results):
        for task in result.results["tasks"]:
            for metric in task["metrics"]:
                named = task["qualified"] if task["task"] in shared else task["task"]
                key = (named, metric["name"], metric["condition"])
                cells.setdefault(key, {})[place] = metric
                known = baseline_values.setdefault(key, [None] * len(_BASELINES))
                for i, which in enumerate(_BASELINES):
                    known[i] = baselines.value_of(task, metric, which) if known[i] is None else known[i]
    rows: list[list[Any]] = []
    for (task_name, name, condition), found in cells.items():
        star = " *" if marks and any(metric["primary"] for metric in found.values()) else ""
        values = [_cell(found.get(place)) for place in range(len(results))]
        rows.append([task_name, f"{name}{star}", condition, *values, *baseline_values[task_name, name, condition]])
    columns = [*_LEADING, *labels([(str(each.results["model"]), each.folder.name) for each in results]), *_BASELINES]
    return without_empty(columns, rows, _OMITTED_IF_EMPTY)


_OMITTED_IF_EMPTY = ("condition", *_BASELINES)


def _cell(metric: Mapping[str, Any] | None) -> str | None:
    if metric is None or metric["value"] is None:
        return None
    places = decimals(metric["value"])
    said = number(metric["value"], places)
    if metric["ci_low"] is None:
        return said
    return f"{said} ({number(metric['ci_low'], places)} to {number(metric['ci_high'], places)})"
