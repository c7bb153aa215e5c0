"""The spec of a run for workers: plain data to open the same tasks, data, models and resources."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from creval.plugin import UsageError
from creval.plugin.workers import (
    CONSENTS,
    LOCAL,
    Plugins,
    RunContext,
    RunOptions,
    Setup,
    Task,
    TaskPlan,
    copied_data,
    core_version,
    file_name,
    is_path,
    library_data,
    options_data,
    parse_path,
    plugin_data,
    read_options,
    task_yaml,
)

__all__ = [
    "WorkerSpec",
    "check_tasks",
    "check_versions",
    "make_spec",
    "needs_of",
    "options_of",
    "private_of",
    "tasks_of",
]

WorkerSpec = Mapping[str, Any]


def make_spec(context: RunContext) -> WorkerSpec:
    """Return the spec of a run's workers. Its `request` is the run's `RunRequest`, as a mapping."""
    setup, options = context.setup, context.setup.options
    models = setup.models.describe()
    return {
        "request": context.request._asdict(),
        "creval": core_version(setup.plugins),
        "plugins": plugin_data(setup.plugins),
        "libraries": library_data(),
        "options": options_data(options),
        "consents": {name: getattr(options, name) for name in CONSENTS},
        "folder": str(Path.cwd()),
        "models": {role: models[role] for role in models if role != "target"},
        "tasks": {plan.task.name: _task(plan) for plan in context.plans},
        "data": {name: Path(path).read_bytes() for name, path in options.data.items() if Path(path).is_file()},
    }


def private_of(options: RunOptions) -> dict[str, Any]:
    """Return the data besides the spec that may be secret."""
    return {"base_url": options.base_url}


def needs_of(setup: Setup, task: Task, target: str) -> dict[str, int]:
    """Return the needs of a task and its parts on a machine, the maximum of each."""
    stated = [task.resolved.get("needs", {}), *(part.needs for part in setup.parts(task, target))]
    names = {name for needs in stated for name in needs}
    return {name: max(needs.get(name, 0) for needs in stated) for name in sorted(names)}


def _task(plan: TaskPlan) -> dict[str, Any]:
    """Return how a worker opens a task; a local task is sent completely, with the data files next to it."""
    task = plan.task
    about = {"hash": task.hash, "fingerprint": plan.dataset.fingerprint, "file": str(task.file.absolute()), "files": {}}
    if task.plugin != LOCAL:
        return about
    name = f"{file_name(task.name)}.yaml"
    with tempfile.TemporaryDirectory() as folder:
        copies = copied_data(task, Path(folder))
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in copies}
    return about | {"yaml": name, "files": {**files, name: task_yaml(task).encode()}}


def check_versions(spec: WorkerSpec, plugins: Plugins, where: str) -> None:
    """Raise UsageError with every distribution whose version differs from the run's."""
    wanted = {each["name"]: each["version"] for each in spec["plugins"]} | spec["libraries"]
    here = {info.name: info.version for info in plugins.infos} | library_data()
    other = [
        f"{name} {here.get(name, 'is missing')} (the run: {wanted[name]})"
        for name in wanted
        if here.get(name) != wanted[name]
    ]
    if other:
        raise UsageError(
            f"this worker has other versions than the run: {', '.join(other)}",
            where=where,
            fix="Install the same versions of creval and its plugins on all machines.",
        )


def options_of(spec: WorkerSpec, private: Mapping[str, Any], folder: Path) -> RunOptions:
    """Return the run's options for a worker; missing data files are written into `folder`."""
    options = read_options(spec["options"])
    data = {}
    for name, path in options.data.items():
        data[name] = path if path.exists() or name not in spec["data"] else folder / "data" / path.name
        if data[name] != path:
            data[name].parent.mkdir(exist_ok=True)
            data[name].write_bytes(spec["data"][name])
    return replace(options, base_url=private["base_url"], data=data, output=None, **spec["consents"])


def tasks_of(spec: WorkerSpec, folder: Path) -> tuple[list[str], list[Path]]:
    """Return the tasks to load here, and the task files that replace them.

    Files missing on this machine are written into `folder`.
    """
    for task in spec["tasks"].values():
        for name, content in task["files"].items():
            file = folder / "tasks" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    names: list[str] = []
    for name in spec["request"]["tasks"]:
        if not is_path(name) or parse_path(name).file.exists():
            names.append(name)
            continue
        travelled = [task["yaml"] for task in spec["tasks"].values() if task["file"] == str(parse_path(name).file)]
        names += [str(folder / "tasks" / each) for each in travelled] or [name]
    files = []
    for name in spec["request"]["task_files"]:
        known = {task["file"]: task.get("yaml") for task in spec["tasks"].values()}
        here = parse_path(name).file
        copy = known.get(str(here.absolute()))
        files.append(Path(name) if here.exists() or copy is None else folder / "tasks" / copy)
    return names, files


def check_tasks(spec: WorkerSpec, plans: Sequence[TaskPlan], where: str) -> None:
    """Raise UsageError with every task that differs here, in its file or its data."""
    found = {plan.task.name: plan for plan in plans}
    other = []
    for name, wanted in spec["tasks"].items():
        if name not in found or found[name].task.hash != wanted["hash"]:
            other.append(name)
        elif found[name].dataset.fingerprint != wanted["fingerprint"]:
            other.append(f"{name} (its data)")
    if other:
        raise UsageError(
            f"this worker has other tasks than the run: {', '.join(other)}",
            where=where,
            fix="Give all machines the same task files and data.",
        )
