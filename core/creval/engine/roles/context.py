"""The context of a task's components during a run: its resources and the models of other roles."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from creval.engine.roles.ledger import CallOrigin, Ledger
from creval.engine.roles.role_models import RoleModels
from creval.engine.run_options import RunOptions
from creval.errors import MissingPartError, UnknownNameError, UsageError
from creval.plugins.registry import Registry
from creval.resources.open_resource import open_resource, resolve
from creval.resources.resource_options import ResourceOptions
from creval.tasks.sections.resource_section import role_behind
from creval.tasks.task_model import Task
from creval.tasks.templates.rendering import render
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.sample import SampleKey
from creval.types.tools import Tool

__all__ = ["OpenResources", "RoleAccess", "TaskContext", "chosen_resources", "resource_options_of", "with_roles"]


def chosen_resources(declared: Mapping[str, str], choices: Mapping[str, str]) -> dict[str, str]:
    """Return the resources of a task, with the user's choices in place of the task's."""
    return {name: choices.get(name, spec) for name, spec in declared.items()}


def with_roles(task: Task, choices: Mapping[str, str]) -> Task:
    """Return a task with the roles that its resources, including the user's choices, ask (`entailment: role/judge`)."""
    specs = chosen_resources(task.resources, choices).values()
    behind = [role for spec in specs if (role := role_behind(spec)) is not None]
    return replace(task, roles=tuple(dict.fromkeys([*task.roles, *behind]))) if behind else task


def resource_options_of(options: RunOptions) -> ResourceOptions:
    """Return the options that every resource of a run gets."""
    return ResourceOptions(
        offline=options.offline, cache=options.cache_folder, trust_remote_code=options.trust_remote_code
    )


class OpenResources:
    """Resources open in this run; each (name, specification) is opened once, whichever tasks share it."""

    def __init__(self, registry: Registry, options: ResourceOptions, allow_code_execution: bool = False) -> None:
        self._registry = registry
        self._options = options
        self._allow_code_execution = allow_code_execution
        self._open: dict[tuple[str, str], Any] = {}
        self._remote: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def get(self, name: str, spec: str) -> Any:
        """Return the resource. Raises MissingPartError, UnknownNameError, UsageError (a sandbox without consent)."""
        with self._lock:
            if (name, spec) not in self._open:
                self.check_consent(name, spec)
                self._open[name, spec] = open_resource(name, spec, self._registry, self._options)
            return self._open[name, spec]

    def check_consent(self, name: str, spec: str) -> None:
        """Raise UsageError for a sandbox unless this command allows programs to run; no file can allow it."""
        component, _ = resolve(name, spec, self._registry)
        if component.kind == "sandbox" and not self._allow_code_execution:
            raise UsageError(
                f"{name}={spec} runs code that the model wrote",
                where="--allow-code-execution",
                fix="Add --allow-code-execution to allow this; the code runs in a sandbox.",
            )

    def record_remote(self, name: str, spec: str, full: str, where: str) -> None:
        """Record the full name of a resource that a worker opened. Raises UsageError if it differs between workers."""
        known = self._remote.setdefault((name, spec), full)
        if known != full:
            raise UsageError(
                f"{name}={spec} is {full} on this worker, but {known} on the others",
                where=where,
                fix="Give all machines the same weights and files.",
            )

    def names(self, specs: Mapping[str, str]) -> dict[str, str]:
        """Return the full names of the open resources that have one."""
        remote = {name: self._remote[name, spec] for name, spec in specs.items() if (name, spec) in self._remote}
        open_resources = {name: self._open.get((name, spec)) for name, spec in specs.items()}
        full_names = {name: getattr(resource, "name", None) for name, resource in open_resources.items()}
        return remote | {name: full for name, full in full_names.items() if isinstance(full, str)}

    def close(self) -> None:
        """Let resources write what they have not written yet."""
        for resource in self._open.values():
            close = getattr(resource, "close", None)
            if callable(close):
                close()


class RoleAccess(NamedTuple):
    """Access to the roles other than the target: their models, and the ledger of their calls."""

    models: RoleModels
    ledger: Ledger


class TaskContext:
    """The `Context` of one task."""

    def __init__(
        self, task: Task, seed: int, specs: Mapping[str, str], shared: OpenResources, role_access: RoleAccess
    ) -> None:
        self.task = task.name
        self.seed = seed
        self.specs = dict(specs)
        self._task = task
        self._shared = shared
        self._models, self._ledger = role_access
        self._calls: dict[SampleKey, Counter[str]] = {}
        self._bound: dict[str, Any] = {}
        self.first_draw = 0
        """Added to the draw of every question, so that a judge asked again gives new answers."""

    def resource(self, name: str) -> Any:
        """Return the resource that the task calls `name`."""
        if name not in self.specs:
            raise UnknownNameError("resource", name, list(self.specs), where=f"task {self.task}")
        if name not in self._bound:
            shared = self._shared.get(name, self.specs[name])
            bind = getattr(shared, "bound", None)  # a resource that asks a role asks the model of this task's role
            self._bound[name] = shared if bind is None else bind(self, self.task)
        return self._bound[name]

    def record_remote(self, names: Mapping[str, str], where: str) -> None:
        """Record the full names of the task's resources that a worker has opened. Raises UsageError if they differ."""
        for name, full in names.items():
            self._shared.record_remote(name, self.specs[name], full, where)

    def check_consent(self, names: Sequence[str]) -> None:
        """Raise UsageError if one of these resources would run programs without consent; none is opened."""
        for name in names:
            if name in self.specs:
                self._shared.check_consent(name, self.specs[name])

    def names(self) -> dict[str, str]:
        """Return the full names (with revision or checksum) of the task's open resources that have one."""
        return self._shared.names(self.specs)

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        """Render a prompt of the task or of one of its roles; `extra` fields are added."""
        return render(self._task.find_prompt(name), {**fields, **extra} if extra else fields, self._task.file)

    def model_of(self, role: str) -> str:
        """Return the name of the model in a role, also of the target; opens no model."""
        return (self._models.named(role) or self._task.role_models.get(role, "")).strip().removeprefix("litellm/")

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        key: SampleKey,
        draw: int = 0,
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply:
        """Ask the model of another role; the same question is paid for once, `draw` numbers independent answers."""
        counts = self._calls.setdefault(key, Counter())
        origin = Origin(key, role, counts[role])
        counts[role] += 1
        apart = role if settings.pop("apart", False) else ""
        all_settings = {**self._task.role_settings.get(role, {}), **settings, **self._models.settings(role)}
        n = int(all_settings.pop("n", 1) or 1)
        effective = {name: value for name, value in all_settings.items() if value is not None}
        by_reference = self._task.by_reference
        request = GenerateRequest(tuple(messages), effective, origin, n, by_reference=by_reference, tools=tuple(tools))
        default = self._task.role_models.get(role)
        model = self._models.get(role, default)
        with self._models.explained(role, default, MissingPartError):
            return await self._ledger.ask(model, request, CallOrigin("scoring", self.first_draw + draw, apart=apart))

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Mark an answer as unreadable, so that the same question gets a new one."""
        self._ledger.unreadable(reply, reason)

    def forget(self, key: SampleKey) -> None:
        """Drop the counters of a sample's calls when its scoring ends or starts again."""
        self._calls.pop(key, None)
