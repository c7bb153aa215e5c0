"""A number made with another instrument than the task's own never goes by the task's name for it."""

from __future__ import annotations

from collections.abc import Mapping

from creval.plugins.registry import Registry
from creval.tasks.model import MetricSpec, Task

__all__ = ["foreign_instruments", "metric_name"]


def foreign_instruments(task: Task, metric: MetricSpec, chosen: Mapping[str, str], registry: Registry) -> list[str]:
    """Return the instruments behind a metric that are not the task's own.

    `chosen` are the resources in use by name. A resource concerns a metric where the scorer that produces the metric's
    score uses it.
    """
    used: set[str] = set()
    for ref in task.score:
        component = registry.get("scorer", ref.name)
        if metric.source in component.produces or "*" in component.produces:
            used.update(component.uses)
    return [chosen[name] for name in sorted(used) if name in chosen and chosen[name] != task.resources.get(name)]


def metric_name(task: Task, metric: MetricSpec, chosen: Mapping[str, str], registry: Registry) -> str:
    """Return `drat`, or `drat[embedded/minilm]` where another instrument was used."""
    foreign = foreign_instruments(task, metric, chosen, registry)
    return f"{metric.name}[{', '.join(foreign)}]" if foreign else metric.name
