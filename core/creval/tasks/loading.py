"""Reads a task file with its includes and overrides and builds the task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from creval.errors import Problem, TaskError
from creval.plugins.registry import Registry
from creval.tasks.build import build_task
from creval.tasks.model import Task
from creval.tasks.overrides import Overrides, apply_overrides
from creval.tasks.owner import Owner
from creval.tasks.yaml.includes import read_merged

__all__ = ["Lookup", "load_task"]


class Lookup(Protocol):
    """What loading needs of the index: files by name, and the plugin that a file belongs to."""

    def find_file(self, name: str) -> Path: ...

    def owner(self, file: Path) -> Owner: ...


def load_task(
    file: Path, lookup: Lookup, registry: Registry, overrides: Sequence[Overrides] = (), find_files: bool = False
) -> Task:
    """Load one task file; overrides are laid over it in order. Raises TaskError with every problem.

    With `find_files` a data file that does not exist is a problem too.
    """
    document = read_merged(file, lookup.find_file)
    problems: list[Problem] = list(document.problems)
    root = document.root
    if root is None:
        raise TaskError(problems)
    if root.is_mapping:
        for given in overrides:
            root, faults = apply_overrides(root, given)
            problems.extend(faults)
    try:
        task = build_task(root, file, lookup.owner(file), registry, find_files)
    except TaskError as error:
        raise TaskError([*problems, *(p for p in error.problems if p not in problems)]) from None
    if problems:
        raise TaskError(problems)
    return task
