"""The numbers of suites: means of metrics over their tasks, as entries of results.json in the form of a task."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from creval.scoring.intervals import quantile, t_interval, transformed_interval
from creval.scoring.metric_estimate import CONFIDENCE
from creval.tasks.suite_numbers import SHARES, is_named
from creval.tasks.task_model import SuiteMetric, Task

__all__ = ["suite_results"]

_SETTINGS = ("instruments", "generation_overrides", "condition_overrides", "prompt_overrides")
_OF_TASK = ("value", "n", "standard_error", "ci_low", "ci_high")


class _Term(NamedTuple):
    """A metric of a task in a suite's number: `part` is its entry of `of`, `scale` the ends of its scale."""

    result: Mapping[str, Any]
    metric: Mapping[str, Any]
    part: int = 0
    scale: tuple[float, float] = (0.0, 1.0)


def suite_results(tasks: Sequence[Task], results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the suites of a run that report numbers, in the order in which they were named."""
    suites: dict[str, dict[SuiteMetric, list[_Term]]] = {}
    members: dict[str, dict[str, Mapping[str, Any]]] = {}
    for task, result in zip(tasks, results, strict=True):
        for number in task.suites:
            suites.setdefault(number.suite, {}).setdefault(number, []).extend(_terms(number, task, result))
            members.setdefault(number.suite, {})[result["task"]] = result
    return [_suite(name, list(members[name].values()), numbers) for name, numbers in suites.items()]


def _terms(number: SuiteMetric, task: Task, result: Mapping[str, Any]) -> Iterator[_Term]:
    """Yield the terms of a number that come from a task."""
    if not number.parts:
        yield _Term(result, _find(result, number.source))
    for place, part in enumerate(number.parts):
        for name in part.metrics if is_named(task, part.tasks) else ():
            metric = _find(result, name)
            low, high = part.range or _range(metric)
            yield _Term(result, metric, place, (low or 0.0, 1.0 if high is None else high))


def _find(result: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the metric of a task over all conditions, also with another resource."""
    return next(
        metric
        for metric in result["metrics"]
        if metric["condition"] is None and "by" not in metric and metric["name"].partition("[")[0] == name
    )


def _suite(
    name: str, tasks: Sequence[Mapping[str, Any]], numbers: Mapping[SuiteMetric, Sequence[_Term]]
) -> dict[str, Any]:
    first = next(iter(numbers))
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
        "metrics": [_metric(number, terms, number == first) for number, terms in numbers.items()],
    }


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _united(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the union of the tasks' entries; texts that differ between tasks are joined."""
    values_by_name: dict[str, list[Any]] = {}
    for part in parts:
        for name, value in part.items():
            if value not in values_by_name.setdefault(name, []):
                values_by_name[name].append(value)
    return {
        name: values[0] if len(values) == 1 else "; ".join(map(str, values)) for name, values in values_by_name.items()
    }


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return {name: total[name] for name in counts[0]}


def _shares(number: SuiteMetric, terms: Sequence[_Term]) -> list[float]:
    """Return the weight of each term: its part's share, an equal one, or its number of values."""
    if number.parts:
        sizes = Counter(term.part for term in terms)
        return [number.parts[term.part].share / sizes[term.part] for term in terms]
    values = [term.metric["n"] if number.average == "weighted" else 1 for term in terms]
    return [value / max(1, sum(values)) for value in values]


def _metric(number: SuiteMetric, terms: Sequence[_Term], primary: bool) -> dict[str, Any]:
    metrics = [term.metric for term in terms]
    shares = _shares(number, terms)
    without = [term.result["task"] for term in terms if term.metric["value"] is None]
    value = None if without else math.fsum(s * _scaled(term) for s, term in zip(shares, terms, strict=True))
    missing = (None, (None, None), "none", f"{without[0]} has no value" if without else None)
    error, ends, method, why = missing if value is None else _interval(value, terms, shares, bool(number.parts))
    return {
        "name": number.name,
        "condition": None,
        "value": value,
        "n": _of_tasks(terms, "n"),
        "clusters": _of_tasks(terms, "clusters"),
        "cluster": metrics[0]["cluster"],
        "standard_error": error,
        "ci_low": ends[0],
        "ci_high": ends[1],
        "confidence": CONFIDENCE,
        "method": method,
        "no_interval": why,
        "failed": None,
        "n_failed": _of_tasks(terms, "n_failed"),
        "counts": _summed(_counts_by_task(terms)),
        "higher_is_better": metrics[0]["higher_is_better"],
        "primary": primary,
        "unit": None if number.parts else metrics[0]["unit"],
        "average": number.average,
        "tasks": [_entry(number, term, share) for term, share in zip(terms, shares, strict=True)],
    }


def _of_tasks(terms: Sequence[_Term], key: str) -> int:
    """Return the sum over tasks of the largest value among their metrics, so that each sample counts once."""
    largest: dict[str, int] = {}
    for term in terms:
        name = term.result["task"]
        largest[name] = max(largest.get(name, 0), term.metric[key])
    return sum(largest.values())


def _counts_by_task(terms: Sequence[_Term]) -> list[Mapping[str, int]]:
    """Return the counts by status of each task: those of its metric with the fewest scored samples."""
    by_task: dict[str, Mapping[str, int]] = {}
    for term in sorted(terms, key=lambda term: term.metric["counts"]["scored"], reverse=True):
        by_task[term.result["task"]] = term.metric["counts"]
    return list(by_task.values())


def _scaled(term: _Term) -> float:
    low, high = term.scale
    return float((term.metric["value"] - low) / (high - low))


def _entry(number: SuiteMetric, term: _Term, share: float) -> dict[str, Any]:
    entry = {"task": term.result["task"], "metric": term.metric["name"]}
    entry |= {key: term.metric[key] for key in _OF_TASK}
    return entry | ({"share": share, "range": list(term.scale)} if number.parts else {})


def _interval(
    value: float, terms: Sequence[_Term], shares: Sequence[float], scaled: bool
) -> tuple[float | None, tuple[float | None, float | None], str, str | None]:
    """Return standard error, interval, its method and why there is none; tasks are fixed, docs are sampled.

    Tasks count as independent. The errors of several metrics of one task are added, which is an upper bound. The
    degrees of freedom are Satterthwaite's; if all metrics have a range, the interval is that of the logit.
    """
    errors: dict[str, float] = {}
    free: dict[str, int] = {}
    for share, term in zip(shares, terms, strict=True):
        name, width = term.result["task"], term.scale[1] - term.scale[0]
        if term.metric["standard_error"] is None:
            return None, (None, None), "none", f"{name} has no standard error"
        errors[name] = errors.get(name, 0.0) + share * term.metric["standard_error"] / width
        free[name] = min(free.get(name, sys.maxsize), max(1, term.metric["clusters"] - 1))
    error = math.hypot(*errors.values())
    if error == 0:
        return error, (None, None), "none", "nothing varies between the docs"
    freedom = error**4 / math.fsum(errors[name] ** 4 / free[name] for name in errors)
    ranges = {(0.0, 1.0)} if scaled else {_range(term.metric) for term in terms}
    low, high = ranges.pop() if len(ranges) == 1 else (None, None)
    if low is not None and high is not None and low < value < high:
        within = transformed_interval(value, error, quantile(freedom, CONFIDENCE), low, high)
        return error, (float(within[0]), float(within[1])), "logit_t", None
    return error, t_interval(value, error, freedom, CONFIDENCE), "t", None


def _range(metric: Mapping[str, Any]) -> tuple[float | None, float | None]:
    definition = metric["definition"]
    if definition["binary"] or (definition["aggregate"] or {}).get("name") in SHARES:
        return 0.0, 1.0
    low, high = definition["range"]
    return low, high
