"""Reads a task with its includes and overrides and builds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from creval.errors import Problem, TaskError
from creval.plugins.loader import LOCAL
from creval.plugins.registry import Registry
from creval.tasks.build import build_task
from creval.tasks.model import Task
from creval.tasks.overrides import Overrides, apply_overrides
from creval.tasks.owner import Owner
from creval.tasks.task_paths import TaskFile
from creval.tasks.yaml.includes import Library, included_files, read_merged

__all__ = ["Lookup", "load_task"]


class Lookup(Library, Protocol):
    """What loading needs of the index: files, by name or path, and the plugin that a file belongs to."""

    def owner(self, file: Path) -> Owner: ...


def load_task(
    place: TaskFile, lookup: Lookup, registry: Registry, overrides: Sequence[Overrides] = (), find_files: bool = False
) -> Task:
    """Load one task; overrides are laid over it in order. Raises TaskError with every problem.

    With `find_files` a data file that does not exist is a problem too.
    """
    document = read_merged(place, lookup)
    problems: list[Problem] = list(document.problems)
    root = document.root
    if root is None:
        raise TaskError(problems)
    if root.is_mapping:
        for given in overrides:
            root, faults = apply_overrides(root, given)
            problems.extend(faults)
    try:
        task = build_task(root, place.file, lookup.owner(place.file), registry, find_files)
    except TaskError as error:
        raise TaskError([*problems, *(p for p in error.problems if p not in problems)]) from None
    if problems:
        raise TaskError(problems)
    return replace(task, base=_base(place, lookup, registry, overrides))


def _base(place: TaskFile, lookup: Lookup, registry: Registry, overrides: Sequence[Overrides]) -> Task | None:
    """Return the task of a plugin that a task from elsewhere builds on, None for a plugin's own tasks and variants.

    A file that is only ever included (`_game.yaml`) and a template (`template: true`) are no tasks to compare with.
    """
    own = lookup.owner(place.file).plugin
    changed = any(lookup.owner(given.node.place.file).plugin != own for given in overrides)
    places = [*([place] if changed and own != LOCAL else []), *included_files(place, lookup)]
    for candidate in places:
        owner = lookup.owner(candidate.file).plugin
        shared = candidate.variant is None and candidate.file.name.startswith("_")
        if owner == LOCAL or shared or (owner == own and candidate != place):
            continue
        base = load_task(candidate, lookup, registry)
        if not base.template:
            return base
    return None
