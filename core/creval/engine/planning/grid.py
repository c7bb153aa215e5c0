"""The grid of conditions that a run asks: the task's, with the axes that the user set in its place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.engine.run_options import RunOptions
from creval.errors import UnknownNameError, UsageError
from creval.plugins.registry import Registry
from creval.tasks.sections.settings import MAX_CELLS, cells, generation_settings, varied_settings
from creval.tasks.task_model import Task
from creval.tasks.yaml.schema import validator_for
from creval.tasks.yaml.wording import SchemaFault, say
from creval.types.sample import Condition

__all__ = ["asked_people", "asks_people", "for_people", "with_own_grid"]


def with_own_grid(task: Task, options: RunOptions, registry: Registry) -> Task:
    """Return the task with the conditions that are asked in this run.

    A setting of `options.generation` wins over the task's conditions: its axis collapses to the one value. One of
    `options.conditions` takes the values given there, whether the task varies it or not.
    Raises UnknownNameError, UsageError (a parameter of the protocol given as a generation setting, an impossible
    value, too many cells).
    """
    axes = _axes(task)
    _check_kinds(axes, options)
    known = varied_settings(registry.get("protocol", task.protocol.name))
    for name, values in options.conditions.items():
        _check_values(task, name, values, known)
        axes[name] = list(values)
    collapsed = {name: [value] for name, value in options.generation.items() if name in axes}
    if not collapsed and not options.conditions:
        return task
    axes.update(collapsed)
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_CELLS:
        raise UsageError(f"the grid of {task.name!r} has {count:,} cells; {MAX_CELLS:,} is the limit", where=_OPTION)
    return replace(task, conditions=tuple(cells(axes)))


def for_people(task: Task) -> Task:
    """Return a task that varies nothing but a model's generation settings with one condition, `default`."""
    varied = {name for condition in task.conditions for name in condition.settings}
    if len(task.conditions) < 2 or not varied <= generation_settings().keys():
        return task
    return replace(task, conditions=(Condition(),))


def asks_people(model: str) -> bool:
    """Whether a model, as it is named, is a person."""
    return model.startswith("human/")


def asked_people(manifest: Mapping[str, Any]) -> bool:
    """Whether a run asked people, and once (those of earlier versions asked them under each of a task's conditions)."""
    once = any([each["name"] for each in task["conditions"]] == [Condition().name] for task in manifest["tasks"])
    return asks_people(manifest["roles"]["target"]) and once


_OPTION = "--condition"


def _axes(task: Task) -> dict[str, list[Any]]:
    """Return the values of each setting that the task varies, in its order."""
    axes: dict[str, dict[str, Any]] = {}
    for condition in task.conditions:
        for name, value in condition.settings.items():
            axes.setdefault(name, {}).setdefault(json.dumps(value, sort_keys=True), value)
    return {name: list(values.values()) for name, values in axes.items()}


def _check_kinds(axes: Mapping[str, Any], options: RunOptions) -> None:
    for name in options.generation:
        if name in axes and name not in generation_settings():
            raise UsageError(
                f"{name!r} is a parameter of the task's protocol, not a setting of the model",
                where="--generation",
                cure=f"Write --condition {name}=VALUE.",
            )


def _check_values(task: Task, name: str, values: Sequence[Any], known: Mapping[str, Any]) -> None:
    if name not in known:
        hint = f"The task {task.name!r} can vary no such setting."
        raise UnknownNameError("setting", name, sorted(known), where=_OPTION, hint=hint)
    for value in values:
        error = None if value is None else next(validator_for(known[name]).iter_errors(value), None)
        if error is not None:
            what, cure = say(SchemaFault.of(error))
            raise UsageError(f"the setting {name} {what}", where=_OPTION, cure=cure)
