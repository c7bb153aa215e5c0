"""Several runs in one table: a row for each metric and run, those of one metric beneath each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from creval.api import RunResult
from creval.report.baselines import Baselines
from creval.report.results import COLUMNS, result_rows
from creval.report.settings import comparison_notes
from creval.report.tables import print_table, table_console
from creval.visible import visible

__all__ = ["one_table", "print_one_table"]

_CONDITION, _BESIDE = 2, (6, 7)


def one_table(results: Sequence[RunResult], baselines: Baselines) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows: task, metric, condition, model, value and what stands beside it.

    Rows stand by task, metric and condition in the order of the first run that has them, then by run. A run is named by
    its model, and by its folder where two runs have the same model. Columns that hold nothing are left out.
    """
    models = [str(result.results["model"]) for result in results]
    names = [
        f"{model} ({result.folder.name})" if models.count(model) > 1 else model
        for model, result in zip(models, results, strict=True)
    ]
    groups: dict[tuple[Any, ...], list[list[Any]]] = {}
    for name, result in zip(names, results, strict=True):
        for row in result_rows(result, baselines):
            groups.setdefault(tuple(row[:3]), []).append([*row[:3], name, *row[3:]])
    rows = [row for group in groups.values() for row in group]
    columns = [*COLUMNS[:3], "model", *COLUMNS[3:]]
    droppable = {_CONDITION, *(index + 1 for index in _BESIDE)}
    keep = [i for i in range(len(columns)) if i not in droppable or any(row[i] is not None for row in rows)]
    return [columns[i] for i in keep], [[row[i] for i in keep] for row in rows]


def print_one_table(results: Sequence[RunResult], baselines: Baselines, console: Console | None = None) -> None:
    """Print several runs as one table, with notes on those whose numbers do not compare."""
    console = console or table_console()
    columns, rows = one_table(results, baselines)
    print_table("", columns, rows, console)
    for line in dict.fromkeys(comparison_notes(results)):
        console.print(visible(line), markup=False, soft_wrap=True)
