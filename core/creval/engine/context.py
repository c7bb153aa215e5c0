"""What a task's components may reach while a run is on: its resources and the models of other roles."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from creval.engine.models import RoleModels
from creval.errors import UnknownNameError
from creval.plugins.registry import Registry
from creval.resources.opening import open_resource
from creval.resources.options import ResourceOptions
from creval.tasks.model import Task
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.sample import SampleKey

__all__ = ["OpenResources", "TaskContext", "instruments"]


def instruments(declared: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the resources of a task with the user's choice in place of its own."""
    return {name: chosen.get(name, spec) for name, spec in declared.items()}


class OpenResources:
    """Resources open in this run; each (name, specification) is opened once, whichever tasks share it."""

    def __init__(self, registry: Registry, options: ResourceOptions) -> None:
        self._registry = registry
        self._options = options
        self._open: dict[tuple[str, str], Any] = {}
        self._lock = threading.Lock()

    def get(self, name: str, spec: str) -> Any:
        """Return the resource. Raises MissingPartError or UnknownNameError."""
        with self._lock:
            if (name, spec) not in self._open:
                self._open[name, spec] = open_resource(name, spec, self._registry, self._options)
            return self._open[name, spec]

    def names(self, specs: Mapping[str, str]) -> dict[str, str]:
        """Return the full names of those that are open and tell one."""
        opened = {name: self._open.get((name, spec)) for name, spec in specs.items()}
        found = {name: getattr(resource, "name", None) for name, resource in opened.items()}
        return {name: full for name, full in found.items() if isinstance(full, str)}

    def close(self) -> None:
        """Let resources write what they still hold."""
        for resource in self._open.values():
            close = getattr(resource, "close", None)
            if callable(close):
                close()


class TaskContext:
    """The `Context` of one task."""

    def __init__(
        self, task: Task, seed: int, specs: Mapping[str, str], shared: OpenResources, models: RoleModels
    ) -> None:
        self.task = task.name
        self.seed = seed
        self._role_models = task.role_models
        self.specs = dict(specs)
        self._shared = shared
        self._models = models
        self._calls: dict[tuple[SampleKey, str], int] = {}

    def resource(self, name: str) -> Any:
        """Return the resource that the task calls `name`."""
        if name not in self.specs:
            raise UnknownNameError("resource", name, list(self.specs), where=f"task {self.task}")
        return self._shared.get(name, self.specs[name])

    def names(self) -> dict[str, str]:
        """Return the full names (with revision or checksum) of the task's resources that are open and tell one."""
        return self._shared.names(self.specs)

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey, **settings: Any) -> Reply:
        """Ask the model of another role; calls of a sample and role are counted, so that each has its own cache key."""
        call = self._calls.get((key, role), 0)
        self._calls[key, role] = call + 1
        n = int(settings.pop("n", 1))
        origin = Origin(key, role, call)
        return await self._models.get(role, self._role_models.get(role)).generate(
            GenerateRequest(tuple(messages), settings, origin, n)
        )

    def forget_calls(self) -> None:
        """Drop the counters of calls, when the samples they belong to are finished."""
        self._calls.clear()
