"""Checks a task against its data: what the YAML alone cannot tell (`creval validate`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from creval.data.dataset import Dataset
from creval.data.opening import open_dataset
from creval.data.options import DataOptions
from creval.errors import CrevalError, DataError, Problem
from creval.plugins.registry import Registry
from creval.tasks.model import Task
from creval.tasks.templates import undefined_fields

__all__ = ["check_data", "check_fields"]

_ORIGIN = re.compile(r"(.*):(\d+)")


def check_data(task: Task, registry: Registry, options: DataOptions) -> Sequence[Problem]:
    """Open a task's dataset and return what does not fit: unreadable data, undefined fields, tests of unknown docs."""
    try:
        dataset = open_dataset(task.dataset, registry, options)
    except CrevalError as error:
        where = f"{error.where}: " if error.where else ""
        return [_at(task, "dataset", f"{where}{error.what}", error.cure)]
    with dataset:
        return [*check_fields(task, dataset, registry), *_check_examples(task, dataset)]


def check_fields(task: Task, dataset: Dataset, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every template field that not every doc has and the protocol does not provide."""
    problems: list[Problem] = []
    provided = registry.get("protocol", task.protocol.name).provides
    for name, messages in task.prompts.items():
        path = name if name == "prompt" else f"prompts.{name}"
        found = undefined_fields(messages, dataset.fields, task.file, provided, dataset.optional_fields)
        problems.extend(replace(problem, path=path) for problem in found)
    return problems


def _check_examples(task: Task, dataset: Dataset) -> Sequence[Problem]:
    problems = []
    for index, example in enumerate(task.examples):
        if not isinstance(example.doc, str):
            continue
        try:
            dataset.by_id(example.doc)
        except DataError as error:
            problems.append(_at(task, f"tests[{index}].doc", error.what, error.cure))
    return problems


def _at(task: Task, path: str, message: str, cure: str | None) -> Problem:
    """Place a problem at the YAML value that a key path names, or at the first below it."""
    origin = next(
        (place for key, place in task.origins.items() if key == path or key.startswith((f"{path}.", f"{path}["))), ""
    )
    match = _ORIGIN.fullmatch(origin)
    if match is None:
        return Problem(message, task.file, path=path, cure=cure)
    return Problem(message, Path(match[1]), int(match[2]), path=path, cure=cure)
