"""Collections: tasks of another tool that a plugin lists by name and writes as task files on first use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from fnmatch import translate
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, cast

from creval.errors import PluginError
from creval.plugins.isolation import aside
from creval.plugins.loader import Plugins

__all__ = ["CollectedTask", "Collections", "TaskCollection"]


class CollectedTask(NamedTuple):
    """A list entry for a task or suite of a collection; `name` does not contain the plugin."""

    name: str
    title: str = ""
    kind: Literal["task", "suite"] = "task"


class TaskCollection(Protocol):
    """The object named by the hook `creval_task_collection`; creating it and its names must be fast (`creval ls`)."""

    @property
    def title(self) -> str:
        """One line for `creval ls`, which shows the whole collection as one row."""

    @property
    def folder(self) -> Path:
        """The folder for its task files: a cache that contains nothing else."""

    def tasks(self) -> Sequence[CollectedTask]:
        """Return all names."""

    def has(self, name: str) -> bool:
        """Whether there is a task or suite of this name."""

    def file(self, name: str) -> Path:
        """Return the file of a task or suite, and write it first if it is missing. Raises CrevalError."""


class Collections:
    """The collections of all plugins, by plugin, each created on first use."""

    def __init__(self, plugins: Plugins) -> None:
        self._targets = plugins.collections
        self._made: dict[str, TaskCollection] = {}

    @property
    def plugins(self) -> Sequence[str]:
        """The plugins that have one."""
        return list(self._targets)

    def of(self, plugin: str) -> TaskCollection | None:
        """Return a plugin's collection, or None. Raises PluginError if it cannot be created."""
        if plugin not in self._targets:
            return None
        if plugin not in self._made:
            module, _, attribute = self._targets[plugin].partition(":")
            try:
                with aside():
                    self._made[plugin] = cast(TaskCollection, getattr(importlib.import_module(module), attribute)())
            except Exception as error:
                what = f"the collection of tasks cannot be made: {type(error).__name__}: {error}"
                raise PluginError(what, where=f"plugin {plugin}") from error
        return self._made[plugin]

    def file(self, plugin: str, name: str) -> Path | None:
        """Return the file of a task, or None if the plugin has no collection or its collection no such task."""
        found = self.of(plugin)
        return found.file(name) if found is not None and found.has(name) else None

    def matching(self, pattern: str) -> Sequence[tuple[str, CollectedTask]]:
        """Return (plugin, task) for the names that a pattern `plugin/...` matches; none if it names no collection."""
        plugin, _, short = pattern.partition("/")
        found = self.of(plugin)
        fits = re.compile(translate(short)).match
        return [] if found is None else [(plugin, task) for task in found.tasks() if fits(task.name)]

    def owner(self, file: Path) -> tuple[str, Path] | None:
        """Return plugin and folder of the collection that wrote a file (a resolved path), or None."""
        for plugin in self._targets:
            found = self.of(plugin)
            if found is not None and file.is_relative_to(found.folder.resolve()):
                return plugin, found.folder
        return None
