"""The results table: one row a metric, with its interval, the counts by status, floor and ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from creval.api import RunResult
from creval.report.baselines import Baselines
from creval.report.tables import cell, print_table

__all__ = ["print_results", "result_rows"]

COLUMNS = ("task", "metric", "condition", "value", "95 % interval", "n", "floor", "ceiling", "samples")
_ORDER = ("scored", "unparsed", "truncated", "refused", "errored", "skipped")


def print_results(
    results: Sequence[RunResult], baselines: Baselines | None = None, console: Console | None = None
) -> None:
    """Print one table a run."""
    for result in results:
        rows = result_rows(result, baselines or {})
        empty = {index for index in (2, 6, 7) if all(row[index] is None for row in rows)}
        keep = [index for index in range(len(COLUMNS)) if index not in empty]
        title = f"{result.results['model']} ({result.folder.name})"
        print_table(title, [COLUMNS[i] for i in keep], [[row[i] for i in keep] for row in rows], console)


def result_rows(result: RunResult, baselines: Baselines) -> list[list[Any]]:
    """Return the rows of one run's table, in the columns of COLUMNS."""
    rows = []
    for task in result.results["tasks"]:
        for metric in task["metrics"]:
            beside = baselines.get((task["hash"], task["dataset"], metric["name"], metric["condition"]), {})
            rows.append(
                [
                    task["task"],
                    metric["name"],
                    metric["condition"],
                    metric["value"],
                    _interval(metric),
                    metric["n"],
                    beside.get("floor"),
                    beside.get("ceiling"),
                    _counts(metric["counts"]),
                ]
            )
    return rows


def _interval(metric: Mapping[str, Any]) -> str | None:
    if metric["ci_low"] is None:
        return None
    return f"{cell(metric['ci_low'])} to {cell(metric['ci_high'])}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name] or name == "scored")
