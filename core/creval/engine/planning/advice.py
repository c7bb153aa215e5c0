"""What a run may do as it is asked, though the user hardly wants it: said once, before the first call."""

from __future__ import annotations

from creval.engine.options import RunOptions
from creval.engine.planning.plan import TaskPlan

__all__ = ["advice"]


def advice(plan: TaskPlan, options: RunOptions) -> list[str]:
    """Return what should be said about a task of a run."""
    task = plan.task
    if plan.repeats < 2:
        return []
    cells = [condition.settings for condition in task.conditions] or [{}]
    seeds = {{**task.generation, **cell, **options.generation}.get("seed") for cell in cells}
    fixed = sorted(seed for seed in seeds if isinstance(seed, int))
    if not fixed:
        return []
    return [
        f"the task {task.name!r} asks each doc {plan.repeats} times with the same seed ({fixed[0]}), so the "
        "repeats may be one answer over and over. For a seed of its own each time: --generation seed=sample"
    ]
