"""Makes what scoring a task needs from its components."""

from __future__ import annotations

from collections.abc import Sequence

from creval.engine.roles.context import TaskContext
from creval.engine.scoring.score import ScorerPart, TaskScoring
from creval.parsing.chain import build_chain
from creval.plugins.registry import ANY_SCORE, Registry
from creval.tasks.model import ComponentRef, Task

__all__ = ["make_scoring"]


def make_scoring(task: Task, registry: Registry, context: TaskContext) -> TaskScoring:
    """Return the parser chain and the scorers of a task, which reach resources and roles by this context."""
    scorers = [_scorer(task, ref, registry) for ref in task.score]
    conditions = {condition.name: condition for condition in task.conditions}
    return TaskScoring(task, build_chain(task.parse, registry), scorers, context, conditions)


def _scorer(task: Task, ref: ComponentRef, registry: Registry) -> ScorerPart:
    """Make a scorer. What an open one gives is what the metrics are made of and no other scorer says it gives."""
    component = registry.get("scorer", ref.name)
    given: Sequence[str] = component.produces
    if ANY_SCORE in given:
        taken = {name for other in task.score for name in registry.get("scorer", other.name).produces}
        given = (*given, *(metric.source for metric in task.metrics if metric.source not in taken))
    names = tuple(dict.fromkeys(name for name in given if name != ANY_SCORE))
    return ScorerPart(ref.name, component.load()(**ref.parameters), names, ANY_SCORE not in component.produces)
