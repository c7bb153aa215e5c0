"""The metrics of a task as mappings with a short `repr`, and as tables, flat rows and data frames for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from creval.errors import MissingPartError, UnknownNameError
from creval.format import cell, html_table, interval_text, without_empty

if TYPE_CHECKING:
    import pandas

__all__ = ["Metric", "Metrics", "data_frame", "flat_metric", "metrics_table", "namesakes", "of_task"]


_NESTED = ("name", "counts", "definition", "tasks")


def flat_metric(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return a metric of results.json as one flat row with the counts by status, without its definition."""
    return {key: value for key, value in metric.items() if key not in _NESTED} | dict(metric["counts"])


def namesakes(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the tasks of several results.json that share a short name, by it: `association/rat`, `local/rat`."""
    qualified_names: dict[str, dict[str, None]] = {}
    for results in runs:
        for task in results["tasks"]:
            qualified_names.setdefault(task["task"], {})[task.get("qualified", task["task"])] = None
    return {name: list(qualified) for name, qualified in qualified_names.items() if len(qualified) > 1}


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return rows as a data frame. Raises MissingPartError without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingPartError("pandas is not installed", fix="Install it: pip install pandas") from error
    return pandas.DataFrame(rows)


_COLUMNS = ("task", "metric", "condition", "value", "95 % interval", "n", "not scored")

_ROWS = 40  # rows of a table in a notebook


class Metric(dict[str, Any]):
    """One metric of results.json: `value`, `ci_low`, `ci_high`, `n`, `counts`, `definition` ... by their keys."""

    __slots__ = ()

    def __repr__(self) -> str:
        within = f" ({interval_text(self)})" if interval_text(self) else ""
        return f"Metric({self['name']}: {cell(self['value'])}{within}, n {self['n']})"


class Metrics(dict[str, Metric]):
    """The metrics of one task over all conditions, by name. An unknown name is reported with the nearest one."""

    __slots__ = ()

    def __missing__(self, name: str) -> Metric:
        raise UnknownNameError("metric", name, [*self], hint=f"It is one of: {', '.join(self) or 'none'}.")

    def __repr__(self) -> str:
        values = [f"{name}: {cell(metric['value'])}" for name, metric in self.items()]
        return f"Metrics({', '.join(values)})"

    def _repr_html_(self) -> str:
        return _table("", [_row(None, metric) for metric in self.values()])


def of_task(results: Mapping[str, Any], task: str) -> Metrics | None:
    """Return the metrics of a task (by its name, with or without its plugin's) over all conditions; None without it."""
    for result in results["tasks"]:
        if task in (result["task"], result["qualified"]):
            return Metrics({m["name"]: Metric(m) for m in result["metrics"] if m["condition"] is None})
    return None


def metrics_table(title: str, results: Mapping[str, Any]) -> str:
    """Return all metrics of results.json as a table for a notebook."""
    return _table(title, [_row(result["task"], metric) for result in results["tasks"] for metric in result["metrics"]])


def _table(title: str, rows: Sequence[Sequence[Any]]) -> str:
    """Return a table without empty columns."""
    columns, cells = without_empty(_COLUMNS, rows)
    below = [f"and {len(rows) - _ROWS} more: see to_rows()"] if len(rows) > _ROWS else []
    return html_table(title, columns, cells[:_ROWS], below)


def _row(task: str | None, metric: Mapping[str, Any]) -> Sequence[Any]:
    counts = metric["counts"]
    missed = ", ".join(f"{n} {status}" for status, n in counts.items() if n and status != "scored")
    interval = interval_text(metric)
    return [task, metric["name"], metric["condition"], metric["value"], interval, metric["n"], missed or None]
