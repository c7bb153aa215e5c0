"""Numbers of groups: combined from those of their tasks, as lm-eval combines them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from creval.plugin import Run
from creval_lmeval.groups import AggregateRule, Group, read_group
from creval_lmeval.roots import known

__all__ = ["GroupNumber", "group_numbers"]

_Z = 1.959963984540054
"""For a 95 % interval."""


class GroupNumber(NamedTuple):
    """A number of a group. `stderr` is lm-eval's; the interval is stratified: each task's error times its weight."""

    group: str
    metric: str
    value: float
    stderr: float | None
    ci_low: float | None
    ci_high: float | None
    tasks: int
    docs: int
    weighted: bool


class _Of(NamedTuple):
    """The contribution of a task to a group: its number, its error and its number of documents."""

    value: float
    error: float | None
    docs: int


def group_numbers(run: Run) -> list[GroupNumber]:
    """Return the numbers of all groups whose tasks are all in a run, inner groups before outer ones."""
    results = [run.result(name) for name in run.tasks]
    own = {str(each["qualified"]).partition("/"): each for each in results}
    tasks = {name: _numbers(each) for (plugin, _, name), each in own.items() if plugin == "lmeval"}
    found: dict[str, list[GroupNumber]] = {}
    for name in _requested(run):
        for group in read_group(name, known()).every():
            found.setdefault(group.name, list(_of_group(group, tasks)))
    return [number for numbers in found.values() for number in numbers]


def _requested(run: Run) -> list[str]:
    """Return the groups that the run requested; a task requested by its own name is in none."""
    names = [str(each).removeprefix("lmeval/") for each in run.manifest["requested"] if str(each).startswith("lmeval/")]
    return [name for name in names if name in known() and known()[name].kind == "group"]


def _numbers(result: Mapping[str, Any]) -> Mapping[str, _Of]:
    """Return a task's metrics over all conditions, with lm-eval's errors and document counts."""
    whole = {each["name"]: each for each in result["metrics"] if each["condition"] is None}
    docs = max((each["n"] for each in whole.values()), default=0)
    found = {}
    for name, each in whole.items():
        metric, _, pipeline = name.partition(",")
        if each["value"] is not None and not metric.endswith("_stderr"):
            error = whole.get(f"{metric}_stderr,{pipeline}", {}).get("value")
            found[name] = _Of(each["value"], error, docs)
    return found


def _of_group(group: Group, tasks: Mapping[str, Mapping[str, _Of]]) -> Iterator[GroupNumber]:
    members = [tasks.get(name.replace("::", ".")) for name in group.tasks()]
    if not members or None in members:
        return
    whole = [each for each in members if each is not None]
    for rule in group.rules:
        yield from _by_rule(group.name, rule, whole)


def _by_rule(group: str, rule: AggregateRule, members: Sequence[Mapping[str, _Of]]) -> Iterator[GroupNumber]:
    there = sorted({name.partition(",")[2] for each in members for name in each if name.startswith(f"{rule.metric},")})
    for pipeline in there if rule.filters is None else rule.filters:
        name = f"{rule.metric},{pipeline}"
        parts = [each[name] for each in members if name in each]
        if not parts:
            continue
        total = sum(part.docs for part in parts)
        shares = [part.docs / total if rule.weighted else 1 / len(parts) for part in parts]
        value = sum(share * part.value for share, part in zip(shares, parts, strict=True))
        errors = [part.error for part in parts if part.error is not None]
        spread = stderr = None
        if len(errors) == len(parts):
            spread = math.sqrt(sum((share * error) ** 2 for share, error in zip(shares, errors, strict=True)))
            stderr = _pooled(errors, [part.docs for part in parts]) if rule.weighted else spread
        low, high = (None, None) if spread is None else (value - _Z * spread, value + _Z * spread)
        yield GroupNumber(group, name, value, stderr, low, high, len(parts), total, rule.weighted)


def _pooled(errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Return lm-eval's `pooled_sample_stderr`."""
    squares = sum((size - 1) * error**2 * size for error, size in zip(errors, sizes, strict=True))
    return math.sqrt(squares / (sum(sizes) - len(sizes)) / sum(sizes))
