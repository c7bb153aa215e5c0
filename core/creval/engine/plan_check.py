"""What can be known to go wrong before the first call, and is refused there."""

from __future__ import annotations

from creval.data.check import check_fields
from creval.engine.options import RunOptions
from creval.engine.plan import TaskPlan
from creval.errors import TaskError, UsageError
from creval.plugins.registry import Registry

__all__ = ["check_plan"]


def check_plan(plan: TaskPlan, options: RunOptions, registry: Registry) -> None:
    """Check a task against its data and the run's options.

    Raises TaskError (a template needs a field that the docs lack), UsageError (a setting given for the whole run is
    one that the task varies; too few repeats for a metric).
    """
    problems = check_fields(plan.task, plan.dataset, registry)
    if problems:
        raise TaskError(problems)
    _check_generation(plan, options)
    _check_repeats(plan, registry)


def _check_generation(plan: TaskPlan, options: RunOptions) -> None:
    varied = {name for condition in plan.task.conditions for name in condition.settings}
    for name in sorted(varied & set(options.generation)):
        raise UsageError(
            f"the task {plan.task.name!r} varies {name} by its conditions, so it cannot be set for the whole run",
            where="--generation",
            cure="Leave it out, or write a suite that overrides the task's conditions.",
        )


def _check_repeats(plan: TaskPlan, registry: Registry) -> None:
    for metric in plan.task.metrics:
        ref = metric.aggregate
        aggregation = registry.get("aggregation", ref.name).load()(**ref.parameters)
        needed = getattr(aggregation, "minimum_repeats", 1)
        if plan.repeats < needed:
            raise UsageError(
                f"the metric {metric.name!r} of {plan.task.name!r} needs {needed} repeats of each doc; "
                f"the run makes {plan.repeats}",
                where="--repeats",
                cure=f"Add --repeats {needed} or more.",
            )
