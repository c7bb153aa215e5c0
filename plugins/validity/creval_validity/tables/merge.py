"""Joining two tables: the union of models and columns."""

from __future__ import annotations

from typing import Literal

from creval.plugin import DataError
from creval_validity.tables.score_table import ScoreTable

__all__ = ["Prefer", "merge"]

Prefer = Literal["error", "first", "second"]


def merge(first: ScoreTable, second: ScoreTable, prefer: Prefer = "error") -> ScoreTable:
    """Join two tables by model.

    If the tables have different values for the same model and column, `prefer` decides; with
    `error` a DataError lists the cells. Dates and providers of the first table have priority.
    """
    cells = first.cells()
    for model in first.models:
        cells.setdefault(model, {})
    clashes: list[str] = []
    for model, row in second.cells().items():
        mine = cells.setdefault(model, {})
        for column, value in row.items():
            if column not in mine or mine[column] == value or prefer == "second":
                mine[column] = value
            elif prefer == "error":
                clashes.append(f"{column} of {model} ({mine[column]:g} and {value:g})")
    if clashes:
        shown = ", ".join(clashes[:5]) + (f" and {len(clashes) - 5} more" if len(clashes) > 5 else "")
        raise DataError(
            f"two sources give different values for {shown}",
            fix="Say which one counts (prefer), or rename a column.",
        )
    table = ScoreTable.from_cells(cells, [*first.columns, *second.columns])
    return ScoreTable(
        table.models,
        table.columns,
        {**second.providers, **first.providers},
        {**second.dates, **first.dates},
    )
