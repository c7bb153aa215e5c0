"""Tasks that ask the same questions: the model is asked once, and both tasks use the samples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.engine.manifest import asked_hash
from creval.engine.planning.plan import TaskPlan
from creval.engine.resuming.resume_state import ResumeState
from creval.errors import RunError
from creval.plugins.registry import Registry
from creval.runs.folder import RunFolder
from creval.runs.jsonl import Appender, dump_line
from creval.tasks.task_model import Task

__all__ = ["copy_shared", "shared_as_before", "with_shared", "with_task"]

_BY_TASK = ("baseline", "replay", "human")
"""Providers whose answers depend on the task."""
_SECTIONS = ("prompt", "prompts", "protocol", "generation", "conditions", "few_shot", "reasoning", "tools", "dataset")


def with_shared(plans: Sequence[TaskPlan], model: str, registry: Registry) -> list[TaskPlan]:
    """Return the plans of a new run; one with the same questions as an earlier one shares its answers."""
    if model.partition("/")[0] in _BY_TASK:
        return list(plans)
    first: dict[str, str] = {}
    shared = []
    for plan in plans:
        name = first.setdefault(_questions(plan, registry), plan.task.name)
        shared.append(plan if name == plan.task.name else replace(plan, shares=name))
    return shared


def shared_as_before(plans: Sequence[TaskPlan], manifest: Mapping[str, Any]) -> list[TaskPlan]:
    """Return the plans of a resumed run, which share answers as when it began."""
    before = {task["task"]: task.get("shares") for task in manifest["tasks"]}
    return [replace(plan, shares=before.get(plan.task.name)) for plan in plans]


def with_task(plan: TaskPlan, plans: Sequence[TaskPlan], manifest: Mapping[str, Any], registry: Registry) -> TaskPlan:
    """Return the plan of a further task for a run, over the saved answers of the task that asks the same.

    Raises RunError, with the differences, if there is no such task.
    """
    entries = {task["task"]: task for task in manifest["tasks"]}
    for other in plans:
        old = entries[other.task.name]
        shared = replace(plan, indices=old["indices"], repeats=old["repeats"], shares=other.shares or other.task.name)
        if _questions(shared, registry) == _questions(other, registry):
            return shared
    nearest = min(plans, key=lambda other: len(_differences(plan, other)))
    differing = ", ".join(_differences(plan, nearest)) or "its resources"
    raise RunError(
        f"{plan.task.name!r} does not ask what {nearest.task.name!r} asked: it differs in {differing}",
        where="--task",
        fix="Only readings, scorers and metrics may differ. Run it as a separate task: --tasks",
    )


def copy_shared(folder: RunFolder, plan: TaskPlan, state: ResumeState[Any]) -> None:
    """Write the samples that a task shares under its own name, except those already there."""
    assert plan.shares is not None
    state.prepare()
    file = Appender(state.samples.path)
    try:
        for key, line in folder.sample_lines(plan.shares):
            if key._replace(task=plan.task.name) in state.samples.done:
                continue
            record = {**line.record(), "task": plan.task.name, "shared_from": plan.shares}
            text = dump_line(record)
            file.append_line(text)
            state.add_sample(record, len(text))
    finally:
        file.close()
    state.save()


def _questions(plan: TaskPlan, registry: Registry) -> str:
    """Return everything that shapes the answers to a task; equal for tasks that may share them."""
    task = plan.task
    protocol = registry.get("protocol", task.protocol.name)
    conditions = [[condition.name, dict(condition.settings)] for condition in task.conditions]
    parts = [asked_hash(task), plan.dataset.fingerprint, plan.docs_digest, plan.repeats, conditions]
    parts += [dict(plan.overrides), task.by_reference, sorted(task.requires), protocol.qualified]
    parts += [dict(task.resources) if protocol.uses else None, [task.role_models.get(r) for r in task.making_roles]]
    parts += [[[ref.name, repr(ref.parameters)] for ref in task.parse] if task.protocol.name != "chat" else None]
    return json.dumps(parts, sort_keys=True, default=str)


def _differences(first: TaskPlan, second: TaskPlan) -> list[str]:
    tasks: tuple[Task, Task] = (first.task, second.task)
    differing = [key for key in _SECTIONS if tasks[0].resolved.get(key) != tasks[1].resolved.get(key)]
    same_data = first.dataset.fingerprint == second.dataset.fingerprint
    return differing if same_data or "dataset" in differing else [*differing, "its data"]
