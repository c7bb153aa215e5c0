"""The copies of tasks in a run folder, and when they replace the files that the run names."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from creval.opener import plain_size
from creval.runs.folder import RunFolder, file_name
from creval.runs.run_commands import resume_command
from creval.runs.trust import UntrustedError
from creval.tasks.task_paths import is_path, parse_path

__all__ = ["TASKS", "tasks_here"]

_LOG = logging.getLogger("creval")
TASKS = "tasks"
"""The folder for them in a run folder."""


def tasks_here(folder: RunFolder, requested: Sequence[str], trusted: bool = True) -> list[str]:
    """Return the tasks of a run as they can be loaded here: a missing file is replaced by the run's copy.

    For a run that was not made here (`trusted` is false) no file outside of its folder is read. Raises UntrustedError
    if the folder has no copy of one.
    """
    names = []
    for name in requested:
        place = parse_path(name) if is_path(name) else None
        if place is None or (trusted and place.file.exists()):
            names.append(name)
            continue
        copies = _copies(folder.path, name)
        if not copies and not trusted:
            what = f"it was not made here, and names the task file {name}, of which it contains no copy"
            raise UntrustedError(what, folder.path, resume_command(folder.path))
        for copy in copies:
            why = "is not there" if trusted else "is not read, as the run was not made here"
            _LOG.warning("%s %s: the run's own copy is used, %s", place.file, why, copy)
        names += [str(copy) for copy in copies] or [name]
    return names


def _copies(folder: Path, name: str) -> list[Path]:
    place = parse_path(name)
    stem = place.file.stem if place.variant is None else f"{place.file.stem}_{place.variant}"
    copy = folder / TASKS / f"{file_name(stem)}.yaml"
    return [copy.absolute()] if plain_size(copy) else []
