"""What a task from elsewhere changes in the plugin's task that it builds on: its numbers are not that task's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.plugins.registry import Registry
from creval.tasks.model import ComponentRef, MetricSpec, Task

__all__ = ["changed_parameters", "changed_sections", "standard_metric"]

_DESCRIBING = frozenset({"title", "description", "tests", "task", "version", "source", "measures", "template"})
_LONGEST = 40


def standard_metric(task: Task, metric: MetricSpec) -> MetricSpec | None:
    """Return the metric of the same name in the task that this one builds on, None where it has none."""
    metrics = task.base.metrics if task.base is not None else ()
    return next((each for each in metrics if each.name == metric.name), None)


def changed_sections(task: Task) -> Sequence[str]:
    """Return the sections of the YAML that differ from the task it builds on, but for those that only describe."""
    if task.base is None:
        return ()
    before, after = task.base.resolved, task.resolved
    keys = sorted({*before, *after} - _DESCRIBING)
    return [key for key in keys if before.get(key) != after.get(key)]


def changed_parameters(task: Task, metric: MetricSpec, registry: Registry) -> list[str]:
    """Return what is other than in the plugin's metric of this name: `quantile=0.8`, `failed=exclude`, `scorer=x`."""
    standard = standard_metric(task, metric)
    if standard is None or task.base is None:
        return []
    marks = [*_scorer_marks(_producing(task, metric, registry), _producing(task.base, standard, registry))]
    if _plain(metric.aggregate) != _plain(standard.aggregate):
        marks.append(f"aggregate={_shown(_plain(metric.aggregate))}")
    for name in ("source", "failed", "failed_value"):
        if getattr(metric, name) != getattr(standard, name):
            marks.append(f"{'from' if name == 'source' else name}={_shown(getattr(metric, name))}")
    return marks


def _producing(task: Task, metric: MetricSpec, registry: Registry) -> dict[str, ComponentRef]:
    """Return the scorers that may give the metric's score, by name."""
    found = {}
    for ref in task.score:
        scorer = registry.get("scorer", ref.name)
        if metric.source in scorer.produces or "*" in scorer.produces:
            found[scorer.qualified] = ref
    return found


def _scorer_marks(now: dict[str, ComponentRef], before: dict[str, ComponentRef]) -> Iterator[str]:
    for name, ref in now.items():
        if name not in before:
            yield f"scorer={ref.name}"
            continue
        old = before[name].parameters
        for key in sorted({*ref.parameters, *old}):
            if _plain(ref.parameters.get(key)) != _plain(old.get(key)):
                yield f"{key}={_shown(_plain(ref.parameters[key])) if key in ref.parameters else 'default'}"


def _plain(value: Any) -> Any:
    if isinstance(value, ComponentRef):
        return {value.name: _plain(value.parameters)} if value.parameters else value.name
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
