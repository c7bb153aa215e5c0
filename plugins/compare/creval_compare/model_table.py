"""Models as rows and tasks as columns, the table of most papers: the best in bold, with groups, errors and n."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rich.console import Console
from rich.text import Text

from creval.plugin import CrevalError, open_run
from creval.plugin.comparing import (
    FIT,
    GAP,
    Baselines,
    Emphasis,
    RunResult,
    decimals,
    fold_name,
    labels,
    line_width,
    namesakes,
    number,
    print_table,
    visible,
)
from creval_compare.significance_groups import significance_groups

__all__ = [
    "GROUPS_NOTE",
    "Column",
    "ErrorStyle",
    "Letters",
    "ModelRow",
    "ModelTable",
    "frame_value",
    "headings",
    "model_rows",
    "model_table",
    "print_models",
    "run_letters",
]

GROUPS_NOTE = "groups: runs that share a letter cannot be told apart (5 %, every pair tested, adjusted by Holm)"

ErrorStyle = Literal["interval", "se", "none"]
_ARROWS = {True: " ↑", False: " ↓", None: ""}


class Column(NamedTuple):
    """A metric of a task (with its plugin where tasks share a name), over all conditions (None) or under one."""

    task: str
    metric: str
    condition: str | None


Letters = Callable[[Column, Sequence[RunResult]], Sequence[str] | None]
"""Gives the runs of a column their groups: runs that share a letter cannot be told apart. None: not known."""


@dataclass(frozen=True, slots=True)
class ModelTable:
    """Columns and rows; the first column names the model. `grouped`: cells carry letters of significance groups."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    grouped: bool


@dataclass(slots=True)
class ModelRow:
    """A model: its name, whether it is a baseline, and its metrics by column, each with its run."""

    name: str
    baseline: bool
    cells: dict[Column, tuple[RunResult, Mapping[str, Any]]] = field(default_factory=dict)


def model_table(
    results: Sequence[RunResult], baselines: Baselines, error: ErrorStyle = "interval", letters: Letters | None = None
) -> ModelTable:
    """Return the table: a row per model (runs of one model that do not overlap share it), then floor, ceiling and n.

    The best value of each column is bold where the metric says which way is better; baselines are never best.
    """
    rows = model_rows(results)
    columns = list(dict.fromkeys(column for row in rows for column in row.cells))
    table: list[list[Any]] = [[row.name] for row in rows]
    grouped = False
    for column in columns:
        groups = _groups(column, rows, letters)
        grouped = grouped or bool(groups)
        best = _best(column, rows)
        for row, cells in zip(rows, table, strict=True):
            metric = row.cells[column][1] if column in row.cells else None
            bold = metric is not None and metric["value"] is not None and metric["value"] == best and not row.baseline
            cells.append(_cell(metric, error, bold, groups.get(id(row), "")))
    table += _frame(columns, rows, baselines)
    return ModelTable(["model", *headings(columns, rows)], table, grouped)


def model_rows(results: Sequence[RunResult]) -> list[ModelRow]:
    """Return one row per model; a second run with a column of the first gets a separate row."""
    merged: list[tuple[RunResult, ModelRow]] = []
    shared = namesakes(result.results for result in results)
    for result in results:
        model = str(result.results["model"])
        cells = {
            Column(_task_name(task, shared), str(metric["name"]), metric["condition"]): (result, metric)
            for task in result.results["tasks"]
            for metric in task["metrics"]
        }
        own = next((row for _, row in merged if row.name == model and not row.cells.keys() & cells.keys()), None)
        if own is None:
            own = ModelRow(model, model.startswith("baseline/"))
            merged.append((result, own))
        own.cells |= cells
    for (_, row), name in zip(merged, labels([(row.name, first.folder.name) for first, row in merged]), strict=True):
        row.name = name
    return [row for _, row in merged]


def _task_name(task: Mapping[str, Any], shared: Collection[str]) -> str:
    return str(task["qualified"] if task["task"] in shared else task["task"])


def _best(column: Column, rows: Sequence[ModelRow]) -> float | None:
    found = [row.cells[column][1] for row in rows if column in row.cells and not row.baseline]
    values = [metric["value"] for metric in found if metric["value"] is not None]
    better = found[0].get("higher_is_better") if found else None
    if better is None or len(values) < 2:
        return None
    return float(max(values) if better else min(values))


def _groups(column: Column, rows: Sequence[ModelRow], letters: Letters | None) -> dict[int, str]:
    entrants = [row for row in rows if column in row.cells and not row.baseline]
    if letters is None or len(entrants) < 2:
        return {}
    found = letters(column, [row.cells[column][0] for row in entrants])
    return {} if found is None else {id(row): each for row, each in zip(entrants, found, strict=True)}


def _cell(metric: Mapping[str, Any] | None, error: ErrorStyle, bold: bool, groups: str) -> Emphasis | None:
    if metric is None or metric["value"] is None:
        return None
    places = decimals(metric["value"])
    said = ""
    if error == "interval" and metric["ci_low"] is not None:
        said = f"[{number(metric['ci_low'], places)}, {number(metric['ci_high'], places)}]"
    elif error == "se" and metric.get("standard_error") is not None:
        said = f"± {number(metric['standard_error'], places)}"
    return Emphasis(number(metric["value"], places), bold, groups, said)


def _frame(columns: Sequence[Column], rows: Sequence[ModelRow], baselines: Baselines) -> Iterator[list[Any]]:
    """Yield the rows below the models: floor and ceiling, where they are known and no row above says them, and n."""
    for which in ("floor", "ceiling"):
        values = [frame_value(column, rows, baselines, which) for column in columns]
        own = next((row for row in rows if row.name == f"baseline/{which}"), None)
        above = [own.cells[column][1]["value"] if own and column in own.cells else None for column in columns]
        if any(value is not None and value != said for value, said in zip(values, above, strict=True)):
            yield [which, *(None if value is None else Emphasis(number(value)) for value in values)]
    counts = [sorted({row.cells[column][1]["n"] for row in rows if column in row.cells}) for column in columns]
    yield ["n", *(Emphasis("–".join(map(str, dict.fromkeys((found[0], found[-1]))))) for found in counts)]


def frame_value(column: Column, rows: Sequence[ModelRow], baselines: Baselines, which: str) -> float | None:
    """Return what the `floor` or `ceiling` reached in a column; None if it is not known."""
    for row in rows:
        if column in row.cells:
            result, metric = row.cells[column]
            named = column.task.rpartition("/")[2]
            task = next(task for task in result.results["tasks"] if task["task"] == named)
            value = baselines.value_of(task, metric, which)
            if value is not None:
                return value
    return None


def headings(columns: Sequence[Column], rows: Sequence[ModelRow]) -> list[str]:
    """Return the name of each column: task, metric where it says more, condition, and which way is better."""
    found = []
    for column in columns:
        metric = next(row.cells[column][1] for row in rows if column in row.cells)
        plain = column.metric.partition("[")[0]
        words = [column.metric] if plain == column.task else [column.task, column.metric]
        words += [column.condition] if column.condition else []
        found.append(" ".join(words) + _ARROWS[metric.get("higher_is_better")])
    return found


_NAME_WIDTHS = (24, 14)  # of the model, of a column


def print_models(table: ModelTable, console: Console) -> None:
    """Print the table, the best values bold (in a pipe with a `*`); columns beyond the width in tables below."""
    fit = min(console.width, FIT)
    bold = console.is_terminal and not console.is_dumb_terminal
    names = [fold_name(str(row[0]), _NAME_WIDTHS[0]) for row in table.rows]
    heads = [fold_name(column, _NAME_WIDTHS[1]) for column in table.columns]
    cells = [[_lines(value, bold) for value in row[1:]] for row in table.rows]
    first = max(map(line_width, [heads[0], *names]))
    widths = [
        max(line_width(heads[i + 1]), *(line_width(row[i].plain) for row in cells)) for i in range(len(heads) - 1)
    ]
    for start, end in _blocks(widths, fit - first - GAP):
        shown = [[Text(visible(name)), *row[start:end]] for name, row in zip(names, cells, strict=True)]
        print_table("", [heads[0], *heads[start + 1 : end + 1]], shown, console)


def _lines(value: Any, bold: bool) -> Text:
    if value is None:
        return Text("–")
    text = Text(value.value, style="bold" if bold and value.bold else "")
    text.append("*" if value.bold and not bold else "", style="none")
    text.append(f" {value.groups}" if value.groups else "", style="none")
    return text.append(f"\n{value.error}" if value.error else "", style="none")


def _blocks(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of columns that fit next to the names, at least one column each."""
    start, used = 0, 0
    for i, width in enumerate(widths):
        if i > start and used + width + GAP > room:
            yield start, i
            start, used = i, 0
        used += width + GAP
    yield start, len(widths)


def run_letters(column: Column, results: Sequence[RunResult]) -> list[str] | None:
    """Return the significance groups of runs in a column; None if they are not known."""
    try:
        runs = [open_run(result.folder) for result in results]
        found = significance_groups(runs, column.task.rpartition("/")[2], column.metric, column.condition)
    except CrevalError:
        return None
    return found
