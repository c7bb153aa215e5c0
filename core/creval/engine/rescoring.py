"""Scores saved answers with another YAML file, into the same run or a copy of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from creval.engine.planning.plan import TaskPlan, with_own_grid
from creval.engine.roles.context import with_roles
from creval.engine.run_options import Rescoring, RunOptions
from creval.engine.snapshot import task_yaml
from creval.errors import UnknownNameError, UsageError
from creval.interruption import CURRENT
from creval.models.providers.addresses import shown_addresses
from creval.opener import copy_files, is_there, open_new, read_bytes
from creval.plugins.loader import Plugins
from creval.runs.folder import RunFolder, file_name
from creval.runs.jsonl import DiskError, disk_error
from creval.runs.lock import RunLock
from creval.runs.media import MEDIA
from creval.runs.run_commands import CONSENTS, score_command
from creval.runs.task_copies import TASKS
from creval.tasks.index import TaskIndex
from creval.tasks.prompt_overrides import with_examples
from creval.tasks.task_model import Task
from creval.tasks.task_paths import parse_path

__all__ = ["copy_run", "keep_task_files", "resumable_scoring", "with_task_files"]

_KEPT = ("samples", "calls", MEDIA, TASKS)
_OPTION = "--task-file"


def with_task_files(
    plans: Sequence[TaskPlan], files: Sequence[Path], options: RunOptions, plugins: Plugins
) -> list[TaskPlan]:
    """Return plans whose tasks are replaced by those of the same name in these files; docs and repeats stay.

    Raises UnknownNameError if the run has no such task, UsageError if two files define the same task, TaskError.
    """
    replacements: dict[str, Task] = {}
    for file in files:
        task = _load(file, plugins)
        if task.name in replacements:
            raise UsageError(f"two files are the task {task.name!r}", where=_OPTION, fix="Leave one of them out.")
        replacements[task.name] = task
    names = [plan.task.name for plan in plans]
    for name in replacements:
        if name not in [*names, *(plan.task.short_name for plan in plans)]:
            raise UnknownNameError("task of the run", name, names, where=_OPTION)
    return [_exchanged(plan, replacements, options, plugins) for plan in plans]


def _exchanged(plan: TaskPlan, replacements: dict[str, Task], options: RunOptions, plugins: Plugins) -> TaskPlan:
    task = replacements.get(plan.task.name) or replacements.get(plan.task.short_name)
    if task is None:
        return plan
    expanded = with_examples(replace(task, name=plan.task.name), options.few_shot, plugins.registry)
    expanded = with_own_grid(with_roles(expanded, options.resources), options, plugins.registry)
    return replace(plan, task=expanded)


def copy_run(source: Path, target: Path) -> Path:
    """Copy the questions and answers of a run, without scores and results, to a new run folder, and return its path.

    Raises RunError if `target` already is a run, or if `source` is not a run or is in use.
    """
    old = RunFolder.open(source)
    with RunLock(source):
        new = RunFolder.create(target)
        try:
            for name in _KEPT:
                if is_there(old.path / name):
                    copy_files(old.path / name, new.path / name)
            for name in ("run.yaml", "run.json"):
                if is_there(old.path / name):
                    with open_new(new.path / name) as copy:
                        copy.write(read_bytes(old.path / name))
        except OSError as error:
            raise disk_error(error, new.manifest) from error
    return target


def keep_task_files(folder: Path, files: Sequence[Path], plugins: Plugins) -> None:
    """Store in a copy of a run the YAML with which it was scored."""
    for file in files:
        task = _load(file, plugins)
        path = folder / TASKS / f"{file_name(task.name)}.yaml"
        try:
            with open_new(path) as copy:
                copy.write(task_yaml(task).encode())
        except OSError as error:
            raise disk_error(error, path).then(f"copy {file} there: the scores are saved.") from error


@contextmanager
def resumable_scoring(path: Path, how: Rescoring) -> Iterator[None]:
    """Make errors that end a scoring early name the command that scores again, not the one that resumes the run."""
    command = score_command(path, also=" ".join(_words(path, how)))
    interruption = CURRENT.get()
    if interruption is not None:
        interruption.resume_command = command
    try:
        yield
    except DiskError as error:
        raise error.then(f"score again with: {command}") from error.__cause__
    except KeyboardInterrupt as error:
        error.add_note(f"The scores are as they were. Score again with: {command}")
        raise


def _words(path: Path, how: Rescoring) -> Iterator[str]:
    """Return the options of `creval score` for `how`, without the run's consents, which are added elsewhere."""
    had = RunFolder.open(path).read_manifest()["options"]
    pairs = [("resource", f"{name}={spec}") for name, spec in how.resources.items()]
    pairs += [("role", f"{role}={model}") for role, model in how.role_words()]
    pairs += [("task-file", str(file)) for file in how.task_files]
    pairs += [("task", name) for name in how.tasks]
    pairs += [("reuse", str(run)) for run in how.reuse]
    pairs += [
        (name, f"{limit:g}") for name, limit in (("max-cost", how.max_cost), ("max-calls", how.max_calls)) if limit
    ]
    for name, value in pairs:
        yield f"--{name} {shlex.quote(shown_addresses(value))}"
    for consent in CONSENTS:
        if getattr(how, consent) and not had.get(consent):
            yield f"--{consent.replace('_', '-')}"


def _load(file: Path, plugins: Plugins) -> Task:
    place = parse_path(str(file))
    return TaskIndex(plugins).load(place._replace(file=place.file.absolute()))
