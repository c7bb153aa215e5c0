"""The numbers of suites: means of a metric over their tasks, as entries of results.json in the form of a task's."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from creval.scoring.intervals import quantile, t_interval, transformed_interval
from creval.scoring.metric_estimate import CONFIDENCE
from creval.tasks.task_model import SuiteMetric, Task

__all__ = ["suite_results"]

_SETTINGS = ("instruments", "generation_overrides", "condition_overrides", "prompt_overrides")
_OF_TASK = ("value", "n", "standard_error", "ci_low", "ci_high")


def suite_results(tasks: Sequence[Task], results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the suites of a run that report numbers of their own, in the order in which they were named."""
    members: dict[str, dict[SuiteMetric, list[tuple[Mapping[str, Any], Mapping[str, Any]]]]] = {}
    for task, result in zip(tasks, results, strict=True):
        for number in task.suites:
            found = next(each for each in result["metrics"] if _is(each, number.source))
            members.setdefault(number.suite, {}).setdefault(number, []).append((result, found))
    return [_suite(name, numbers) for name, numbers in members.items()]


def _is(metric: Mapping[str, Any], name: str) -> bool:
    """Whether a result is the metric of a task as a whole, also with another resource."""
    return metric["condition"] is None and "by" not in metric and metric["name"].partition("[")[0] == name


def _suite(
    name: str, numbers: Mapping[SuiteMetric, Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]]
) -> dict[str, Any]:
    first, listed = next(iter(numbers.items()))
    tasks = [result for result, _ in listed]
    settings = {key: _united([task.get(key) or {} for task in tasks]) for key in _SETTINGS}
    shards = list(dict.fromkeys(task["shard"] for task in tasks if task.get("shard")))
    return {
        "task": name.partition("/")[2],
        "qualified": name,
        "title": first.title,
        "tasks": [task["task"] for task in tasks],
        **{key: _digest([task[key] for task in tasks]) for key in ("hash", "dataset", "docs_digest")},
        "docs": sum(task["docs"] for task in tasks),
        **{key: values for key, values in settings.items() if values or key == "instruments"},
        **({"shard": shards[0]} if len(shards) == 1 else {}),
        "repeats": max(task["repeats"] for task in tasks),
        "counts": _summed([task["counts"] for task in tasks]),
        "metrics": [_metric(number, found, number == first) for number, found in numbers.items()],
    }


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _united(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What any task has under a name; texts that differ between tasks are joined."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        for name, value in part.items():
            if value not in found.setdefault(name, []):
                found[name].append(value)
    return {name: values[0] if len(values) == 1 else "; ".join(map(str, values)) for name, values in found.items()}


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    whole: Counter[str] = Counter()
    for each in counts:
        whole.update(each)
    return {name: whole[name] for name in counts[0]}


def _metric(
    number: SuiteMetric, found: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], primary: bool
) -> dict[str, Any]:
    metrics = [metric for _, metric in found]
    sizes = [metric["n"] if number.average == "weighted" else 1 for metric in metrics]
    shares = [size / max(1, sum(sizes)) for size in sizes]
    without = [result["task"] for result, metric in found if metric["value"] is None]
    value = None if without else math.fsum(s * m["value"] for s, m in zip(shares, metrics, strict=True))
    missing = (None, (None, None), "none", f"{without[0]} has no value" if without else None)
    error, ends, method, why = missing if value is None else _interval(value, found, shares)
    return {
        "name": number.name,
        "condition": None,
        "value": value,
        "n": sum(metric["n"] for metric in metrics),
        "clusters": sum(metric["clusters"] for metric in metrics),
        "cluster": metrics[0]["cluster"],
        "standard_error": error,
        "ci_low": ends[0],
        "ci_high": ends[1],
        "confidence": CONFIDENCE,
        "method": method,
        "no_interval": why,
        "failed": None,
        "n_failed": sum(metric["n_failed"] for metric in metrics),
        "counts": _summed([metric["counts"] for metric in metrics]),
        "higher_is_better": metrics[0]["higher_is_better"],
        "primary": primary,
        "unit": metrics[0]["unit"],
        "average": number.average,
        "tasks": [{"task": r["task"], "metric": m["name"], **{key: m[key] for key in _OF_TASK}} for r, m in found],
    }


def _interval(
    value: float, found: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], shares: Sequence[float]
) -> tuple[float | None, tuple[float | None, float | None], str, str | None]:
    """Return standard error, interval, its method and why there is none: tasks are what they are, docs are drawn.

    The degrees of freedom are Satterthwaite's; within a range that all tasks have the interval is that of the logit.
    """
    parts = []
    for share, (result, metric) in zip(shares, found, strict=True):
        if metric["standard_error"] is None:
            return None, (None, None), "none", f"{result['task']} has no standard error"
        parts.append(((share * metric["standard_error"]) ** 2, max(1, metric["clusters"] - 1)))
    error = math.sqrt(math.fsum(square for square, _ in parts))
    if error == 0:
        return error, (None, None), "none", "nothing varies between the docs"
    freedom = error**4 / math.fsum(square**2 / free for square, free in parts)
    ranges = {_range(metric) for _, metric in found}
    low, high = ranges.pop() if len(ranges) == 1 else (None, None)
    if low is not None and high is not None and low < value < high:
        within = transformed_interval(value, error, quantile(freedom, CONFIDENCE), low, high)
        return error, (float(within[0]), float(within[1])), "logit_t", None
    return error, t_interval(value, error, freedom, CONFIDENCE), "t", None


def _range(metric: Mapping[str, Any]) -> tuple[float | None, float | None]:
    definition = metric["definition"]
    shares = ("rate", "pass@k", "all", "consistency")
    if definition["binary"] or (definition["aggregate"] or {}).get("name") in shares:
        return 0.0, 1.0
    low, high = definition["range"]
    return low, high
