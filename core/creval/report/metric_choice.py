"""Chooses the metrics of a table: the primary ones, unless others are requested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from creval.api import RunResult
from creval.errors import UnknownNameError

__all__ = ["MetricChoice", "chosen"]


class MetricChoice(NamedTuple):
    """Tasks and metrics by name (none: all tasks, and the primary metrics of each); `every`: all metrics.

    With `overall`, metrics for a single condition are left out if the metric over all conditions exists, as are metrics
    of groups of docs. Otherwise primary metrics include their groups.
    """

    tasks: Sequence[str] = ()
    metrics: Sequence[str] = ()
    every: bool = False
    overall: bool = False

    def of(self, task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the chosen metrics of a task; all of them if it has no primary metric."""
        metrics: list[Mapping[str, Any]] = task["metrics"]
        if self.overall and not self.every:
            unconditioned = {one["name"] for one in metrics if one["condition"] is None}
            metrics = [one for one in metrics if one["condition"] is None or one["name"] not in unconditioned]
            metrics = [one for one in metrics if "by" not in one or one["name"] in self.metrics]
        if self.tasks and not {task["task"], task.get("qualified")} & set(self.tasks):
            return []
        if self.metrics:
            return [one for one in metrics if {one["name"], _without_condition(one["name"])} & set(self.metrics)]
        names = {one["name"] for one in metrics if one["primary"]}
        if self.every or not names:
            return metrics
        prefixes = tuple(f"{name}[" for name in names)
        return [one for one in metrics if one["primary"] or ("by" in one and one["name"].startswith(prefixes))]


def _without_condition(name: str) -> str:
    return name.partition("[")[0]


def chosen(results: Sequence[RunResult], choice: MetricChoice) -> tuple[list[RunResult], int]:
    """Return the results with the chosen metrics, and suites among the tasks, and the number of other metrics.

    Raises UnknownNameError for a task or metric that no run has.
    """
    _check(choice.tasks, "task", [name for each in results for name in _task_names(each)])
    every = [str(one["name"]) for each in results for task in _entries(each) for one in task["metrics"]]
    _check(choice.metrics, "metric", [*every, *map(_without_condition, every)])
    shown, hidden = [], set()
    for result in results:
        tasks = []
        for task in _entries(result):
            metrics = choice.of(task)
            hidden |= {(task["task"], one["name"]) for one in task["metrics"]} - {
                (task["task"], one["name"]) for one in metrics
            }
            if metrics:
                tasks.append({**task, "metrics": metrics})
        shown.append(replace(result, results={**result.results, "tasks": tasks}))
    return shown, len(hidden)


def _entries(result: RunResult) -> list[Mapping[str, Any]]:
    """Return the tasks of a run, and the suites that have metrics."""
    return [*result.results["tasks"], *result.results.get("suites", ())]


def _task_names(result: RunResult) -> Iterator[str]:
    for task in _entries(result):
        yield str(task["task"])
        yield str(task.get("qualified", task["task"]))


def _check(names: Sequence[str], kind: str, known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, list(dict.fromkeys(known)))
