"""The files from which a run can be repeated: run.yaml, and every task's YAML next to it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from creval.engine.manifest import options_data
from creval.engine.planning.plan import TaskPlan
from creval.engine.run_options import RunOptions
from creval.opener import open_new, remove
from creval.plugins.loader import LOCAL
from creval.runs.folder import file_name
from creval.runs.jsonl import disk_error
from creval.runs.run_commands import CONSENTS
from creval.runs.sweep_folder import SWEEP_FILE
from creval.runs.task_copies import TASKS
from creval.runs.trust import MADE_HERE, Claims
from creval.tasks.task_model import Task
from creval.tasks.task_paths import find_data_file, is_path, parse_path, search_folders
from creval.tasks.yaml.scalars import resolve

__all__ = ["RUN_FILE", "copied_data", "keep_files", "task_yaml"]

RUN_FILE = "run.yaml"
_HERE_ONLY = frozenset({"output", "command", "cache_folder", "executor", "executor_options", "detach", *CONSENTS})
_LARGEST = 50_000_000  # the most bytes of a data file that is copied


class _Dumper(yaml.SafeDumper):
    """Writes texts so that they are read as texts by the rules of task files (YAML 1.2)."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if _is_text(text) else '"')


def _is_text(text: str) -> bool:
    try:
        return isinstance(resolve(text), str)
    except ValueError:
        return False


_Dumper.add_representer(str, _write_text)


def keep_files(
    folder: Path,
    requested: Sequence[str],
    models: Mapping[str, Any],
    options: RunOptions,
    plans: Sequence[TaskPlan],
    trusted: bool = True,
) -> list[Path]:
    """Write the file of a run (or, if `models` are several, of a sweep) and the YAML of its tasks; return the paths.

    `models` is `{"model": M}` or `{"models": [...]}`. Tasks outside plugins refer to the YAML next to the file, so that
    a copy of the folder is enough; their data file is copied too, unless the task stores its docs by reference or the
    file is larger than 50 MB. What the file names is trusted on this machine only with `trusted`. Raises RunError if
    the disk is full.
    """
    written: list[Path] = []
    try:
        for plan in plans:
            written.append(_write(folder / TASKS / f"{file_name(plan.task.name)}.yaml", task_yaml(plan.task)))
            written += copied_data(plan.task, folder / TASKS)
        name = RUN_FILE if "model" in models else SWEEP_FILE
        head = f"# Repeats this: creval run {name}. In its folder it adds what is missing.\n"
        data = {"schema": 1, "tasks": _names(requested, plans), **models, **_changed_options(options), "output": "."}
        signature = Claims.of_file(data, folder / name).signed() if trusted else None
        data |= {MADE_HERE: signature} if signature is not None else {}
        written.append(_write(folder / name, head + _dumped(data)))
    except OSError as error:
        for path in written:
            remove(path)
        raise disk_error(error, folder / RUN_FILE) from error
    return written


def task_yaml(task: Task) -> str:
    """Return a task as one complete YAML file, with includes merged."""
    return f"# {task.qualified} {task.version}, all of it\n{_dumped(dict(task.resolved))}"


def _names(requested: Sequence[str], plans: Sequence[TaskPlan]) -> list[str]:
    names: dict[str, None] = {}
    for name in requested:
        tasks = [plan.task for plan in plans if is_path(name) and _stands_at(plan.task, name)]
        copies = [f"./{TASKS}/{file_name(task.name)}.yaml" for task in tasks if task.plugin == LOCAL]
        names.update(dict.fromkeys(copies or [name]))
    return list(names)


def _stands_at(task: Task, name: str) -> bool:
    place = parse_path(name)
    key = str(task.resolved["task"])
    same_variant = place.variant is None or key.endswith(f"_{place.variant}")
    return task.file.absolute() == place.file.absolute() and same_variant


def copied_data(task: Task, folder: Path) -> list[Path]:
    """Copy the data files of a task outside plugins, if they are next to its YAML."""
    if task.plugin != LOCAL or task.by_reference:
        return []
    pool = task.few_shot.pool if task.few_shot is not None else None
    files = [ref.parameters.get("file") for ref in (task.dataset, pool) if ref is not None]
    names = list(dict.fromkeys(name for name in files if isinstance(name, str)))
    return [copy for name in names for copy in _copied(name, task, folder)]


def _copied(name: str, task: Task, folder: Path) -> list[Path]:
    if Path(name).is_absolute():
        return []
    source = find_data_file(name, search_folders(task.dataset.base, task.dataset.package))
    target = folder / name
    inside = target.resolve().is_relative_to(folder.resolve())
    if source is None or not inside or source.stat().st_size > _LARGEST or source.resolve() == target.resolve():
        return []
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    return [target]


def _changed_options(options: RunOptions) -> dict[str, Any]:
    """Return the options that are not the defaults, and the seed."""
    data, defaults = options_data(options), options_data(RunOptions())
    changed = {name: value for name, value in data.items() if name not in _HERE_ONLY and value != defaults[name]}
    if changed.pop("role_options", None):
        role_options = options.role_options
        named = [*dict.fromkeys([*options.roles, *role_options])]
        models = {role: {"model": options.roles[role]} if role in options.roles else {} for role in named}
        changed["roles"] = {
            r: {**models[r], **role_options[r]} if r in role_options else options.roles[r] for r in named
        }
    return {"seed": options.seed, **changed}


def _dumped(data: Mapping[str, Any]) -> str:
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _write(path: Path, text: str) -> Path:
    with open_new(path) as file:
        file.write(text.encode())
    return path
