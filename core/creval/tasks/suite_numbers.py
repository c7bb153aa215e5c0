"""Reads and checks the numbers of a suite: means of one metric over its tasks, or of stated metrics of stated tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.errors import Problem, nearest
from creval.tasks.task_model import CombinedMetric, MetricSpec, SuiteMetric, SuitePart, Task
from creval.tasks.yaml.nodes import Node, plain, problem_at

__all__ = ["SHARES", "is_named", "missing_metrics", "missing_tasks", "read_numbers"]

SHARES = ("rate", "pass@k", "all", "consistency")
"""Aggregations whose value is always between 0 and 1."""


def read_numbers(root: Node, plugin: str, problems: list[Problem]) -> Iterator[tuple[SuiteMetric, Node]]:
    """Yield the numbers of a suite, each with its place; faults are added to `problems`."""
    data, listed = plain(root), root.get("metrics")
    nodes = listed.value if listed is not None else ()
    every = [plain(node) for node in nodes]
    composed = {entry["name"]: tuple(_parts(entry["of"], {})) for entry in every if _is_of_metrics(entry)}
    known: set[str] = set()
    for node, entry in zip(nodes, every, strict=True):
        name = entry["name"]
        if name in known:
            message = f"two numbers of the suite are called {name!r}"
            problems.append(problem_at(node.value["name"].place, message, ("metrics",), "Rename one of them."))
        known.add(name)
        identity = (f"{plugin}/{data['suite']}", data["title"], name)
        of = node.get("of")
        if of is None:
            number = SuiteMetric(*identity, entry.get("from", name), entry.get("average", "macro"))
            yield number, node.get("from") or node.value["name"]
            continue
        if {"from", "average"} & entry.keys():
            message = f"{name!r} states `of`, and from or average too"
            problems.append(problem_at(of.place, message, ("metrics",), "Leave these out: all parts weigh the same."))
        unknown = [part for part in entry["of"] if isinstance(part, str) and part not in composed]
        if unknown:
            message = f"{unknown[0]!r} in {name!r} is not a number of this suite made of metrics"
            problems.append(problem_at(of.place, message, ("metrics",), "Name one whose `of` lists tasks and metrics."))
            continue
        yield SuiteMetric(*identity, name, "parts", tuple(_parts(entry["of"], composed))), of


def _is_of_metrics(number: Mapping[str, Any]) -> bool:
    return "of" in number and not any(isinstance(part, str) for part in number["of"])


def _parts(entries: Sequence[Any], composed: Mapping[str, Sequence[SuitePart]]) -> Iterator[SuitePart]:
    for entry in entries:
        if isinstance(entry, str):
            yield from (part._replace(share=part.share / len(entries)) for part in composed[entry])
            continue
        low_high = entry.get("range")
        yield SuitePart(
            1 / len(entries),
            _names(entry["task"]),
            _names(entry["metric"]),
            None if low_high is None else (float(low_high[0]), float(low_high[1])),
        )


def _names(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def is_named(task: Task, names: Sequence[str]) -> bool:
    """Whether one of the names is the task's, alone, with its plugin or with its label."""
    return any(name in (task.name, task.short_name, f"{task.plugin}/{task.short_name}") for name in names)


def missing_metrics(task: Task, numbers: Sequence[tuple[SuiteMetric, Node]]) -> Iterator[Problem]:
    """Yield a problem for each number of a suite for which the task has no metric, or none that can be scaled."""
    known = {metric.name: metric for metric in task.every_metric}
    for number, node in numbers:
        parts = [part for part in number.parts if is_named(task, part.tasks)]
        required = (
            [(name, part) for part in parts for name in part.metrics] if number.parts else [(number.source, None)]
        )
        for name, part in required:
            if name not in known:
                near = nearest(name, list(known))
                fix = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(known)}."
                message = f"the task {task.name!r} of the suite has no metric {name!r}"
                yield problem_at(node.place, message, ("metrics",), fix)
            elif part is not None and (fault := _scale_fault(known[name], part)):
                yield problem_at(node.place, f"{name!r} of {task.name!r} {fault[0]}", ("metrics",), fault[1])


def _scale_fault(metric: MetricSpec | CombinedMetric, part: SuitePart) -> tuple[str, str] | None:
    """Return why a metric cannot be scaled to 0 to 1 with higher being better, and how to fix it."""
    if metric.higher_is_better is not True:
        return "is not better when higher", "A number with `of` cannot use such a metric."
    if part.range is not None:
        return None if part.range[0] < part.range[1] else ("has an empty range", "State range: [LOW, HIGH].")
    bounds: tuple[float | None, float | None] = (None, None)
    if isinstance(metric, MetricSpec):
        bounds = (0.0, 1.0) if metric.binary or metric.aggregate.name in SHARES else metric.range
    return (
        ("has no range", "State range: [LOW, HIGH] next to it.") if None in bounds or bounds[0] == bounds[1] else None
    )


def missing_tasks(number: SuiteMetric, node: Node, tasks: Sequence[Task]) -> Iterator[Problem]:
    """Yield a problem for each task that a number of a suite names but the suite lacks."""
    for name in dict.fromkeys(name for part in number.parts for name in part.tasks):
        if not any(is_named(task, [name]) for task in tasks):
            near = nearest(name, [task.short_name for task in tasks])
            fix = f"Did you mean {near[0]!r}?" if near else "Name it under tasks."
            yield problem_at(node.place, f"the suite has no task {name!r}", ("metrics",), fix)
