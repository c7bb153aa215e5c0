"""run.json: everything that is needed to understand a run, to resume it, and to repeat it. No secrets."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.engine.run_options import RunOptions, nested_settings
from creval.errors import RunError
from creval.models.answers.read_answers import READING_VERSION
from creval.models.providers.addresses import shown_address
from creval.models.secrets import redact
from creval.plugins.distributions import installed_version
from creval.plugins.loader import Plugins
from creval.runs.folder import FORMAT_VERSION
from creval.runs.run_commands import CONSENTS
from creval.runs.trust import MADE_HERE, Claims
from creval.tasks.task_model import Task
from creval.tasks.task_paths import is_path

__all__ = [
    "asked_hash",
    "core_version",
    "library_data",
    "now",
    "options_data",
    "plugin_data",
    "read_options",
    "sign",
    "start_manifest",
    "task_data",
]

_READING = ("json-repair", "regex")
_PATHS = ("output", "cache_folder")
_DAMAGED = "Name a run folder that creval made."
_ASKED = ("dataset", "protocol", "prompt", "prompts", "generation", "conditions", "reasoning", "few_shot", "tools")


def now() -> str:
    """Return the time as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def options_data(options: RunOptions) -> dict[str, Any]:
    """Return the options as plain data, with possible secrets in addresses hidden (`shown_address`)."""
    data: dict[str, Any] = {}
    for field in fields(RunOptions):
        value = getattr(options, field.name)
        if field.name in _PATHS:
            value = None if value is None else str(Path(value).absolute())
        elif field.name == "data":
            value = {task: str(Path(path).absolute()) for task, path in value.items()}
        elif field.name == "reuse":
            value = [str(Path(path).absolute()) for path in value]
        elif field.name == "docs":
            value = list(value)
        elif field.name == "base_url":
            value = None if value is None else shown_address(value)
        elif field.name == "command":
            value = redact(value)
        elif field.name == "generation":
            value = nested_settings(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        data[field.name] = value
    return data


def read_options(data: Mapping[str, Any]) -> RunOptions:
    """Return the options of a manifest, without unknown ones (of a later version).

    Consent to run programs is never read from a file, which may come from anyone, and the run folder is the one that
    the user names. Raises RunError if the values are not valid options.
    """
    known = {field.name for field in fields(RunOptions)} - {*CONSENTS, "detach", "output"}
    values = {name: value for name, value in data.items() if name in known}
    try:
        values["cache_folder"] = Path(values["cache_folder"]) if values.get("cache_folder") else None
        values["reuse"] = tuple(Path(path) for path in values.get("reuse", ()))
        values["docs"] = tuple(values.get("docs", ()))
        values["data"] = {task: Path(path) for task, path in values.get("data", {}).items()}
        return RunOptions(**values)
    except (TypeError, ValueError, AttributeError) as error:
        raise RunError(f"its options cannot be read: {error}", where="run.json", fix=_DAMAGED) from error


def asked_hash(task: Task) -> str:
    """Return the sha256 of everything that shapes the questions to the model, to which saved answers belong."""
    sections = {name: task.resolved[name] for name in _ASKED if name in task.resolved}
    roles = task.resolved.get("roles")
    made_with = {role: roles[role] for role in task.making_roles if isinstance(roles, Mapping) and role in roles}
    role_specs = {role: spec for role, spec in made_with.items() if isinstance(spec, Mapping)}
    if role_specs:  # the protocol's own wording shapes the answers as the prompts do
        sections["roles"] = {role: {k: v for k, v in spec.items() if k != "model"} for role, spec in role_specs.items()}
    text = json.dumps(sections, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def task_data(plan: TaskPlan) -> dict[str, Any]:
    """Return a manifest's entry of one task."""
    task = plan.task
    return {
        "task": task.name,
        "qualified": task.qualified,
        "version": task.version,
        "plugin": task.plugin,
        "plugin_version": task.plugin_version,
        "hash": task.hash,
        "asked": asked_hash(task),
        "dataset": {
            "fingerprint": plan.dataset.fingerprint,
            "docs": len(plan.dataset),
            "replaced": plan.dataset.replaced,
        },
        "indices": None if plan.indices is None else list(plan.indices),
        "conditions": [{"name": c.name, "settings": dict(c.settings)} for c in task.conditions],
        "repeats": plan.repeats,
        "planned": plan.total,
        "by_reference": task.by_reference,
        **({"shares": plan.shares} if plan.shares else {}),
    }


def _memory() -> int | None:
    """Return the machine's memory in bytes, if it is known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def core_version(plugins: Plugins) -> str:
    """Return the version of creval itself."""
    return next(info.version for info in plugins.infos if info.name == "core")


def library_data() -> dict[str, str]:
    """Return the versions of the libraries that affect how answers are read."""
    return {name: _version(name) for name in _READING}


@functools.cache
def _version(name: str) -> str:
    return installed_version(name) or "unknown"


def plugin_data(plugins: Plugins) -> list[dict[str, str]]:
    """Return the plugins loaded, with their versions."""
    return [{"name": i.name, "distribution": i.distribution, "version": i.version} for i in plugins.infos]


def start_manifest(
    requested: Sequence[str], roles: Mapping[str, str], options: RunOptions, plugins: Plugins, plans: Sequence[TaskPlan]
) -> dict[str, Any]:
    """Return the manifest of a new run. `requested` are the tasks as named by the user; a pattern is replaced by its
    matches."""
    defaults = options_data(RunOptions())
    settings = options_data(options)
    manifest = {
        "schema": FORMAT_VERSION,
        "id": secrets.token_hex(16),
        "creval": core_version(plugins),
        "command": redact(options.command),
        "requested": [str(Path(name).expanduser().absolute()) if is_path(name) else name for name in requested],
        "roles": dict(roles),
        "seed": options.seed,
        "reading": READING_VERSION,
        "options": settings,
        "origins": {name: "default" if settings[name] == defaults[name] else "user" for name in settings},
        "plugins": plugin_data(plugins),
        "libraries": library_data(),
        "tasks": [task_data(plan) for plan in plans],
        "models": {},
        "instruments": {},
        "machine": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "memory": _memory(),
        },
        "started": now(),
        "finished": None,
        "status": "running",
        "attempts": [],
        "rescored": [],
        "reused": [],
    }
    sign(manifest, options.output or Path.cwd())
    return manifest


def sign(manifest: dict[str, Any], folder: Path) -> None:
    """Sign a manifest as written by this installation, so that `creval resume` trusts what it names."""
    signature = Claims.of_run(manifest, folder).signed()
    manifest.pop(MADE_HERE, None)
    if signature is not None:
        manifest[MADE_HERE] = signature
