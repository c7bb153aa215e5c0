"""Finds how people see tasks, and what is said to them at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from creval.models.players.wording import WordingScreen
from creval.plugins.loader import Plugins, load_plugins
from creval.plugins.registry import Registry
from creval.runs.folder import RunFolder
from creval.tasks.index import TaskIndex
from creval.tasks.model import Task
from creval.types.sample import SampleScore
from creval.types.screens import Screen, Screens

__all__ = ["closing_words", "screen_name", "screens_of"]


def screen_name(task: Task, registry: Registry) -> str | None:
    """Return the qualified name of the screen that serves the task's protocol, None where there is none."""
    protocol = task.protocol.name.rpartition("/")[-1]
    if protocol not in registry.names("screen"):
        return None
    return registry.get("screen", protocol, prefer=task.plugin).qualified


def screens_of(tasks: Sequence[Task], plugins: Plugins) -> Screens:
    """Return the function that finds the screen of one of the tasks by the task's name."""
    by_name = {task.name: task for task in tasks}

    def find(task: str) -> Screen | None:
        own = _load(screen_name(by_name[task], plugins.registry), plugins.registry)
        return WordingScreen(by_name[task]) if own is None and by_name[task].human is not None else own

    return find


def closing_words(path: Path) -> list[str]:
    """Return what the screens of a finished run say of its scores; tasks of one screen are judged together."""
    folder = RunFolder.open(path)
    plugins = load_plugins()
    groups: dict[str, list[Task]] = {}
    for task in TaskIndex(plugins).expand(folder.read_manifest()["requested"]):
        name = screen_name(task, plugins.registry)
        if name is not None:
            groups.setdefault(name, []).append(task)
    words: list[str] = []
    for name, tasks in groups.items():
        screen = _load(name, plugins.registry)
        assert screen is not None
        scores: Mapping[str, Sequence[SampleScore]] = {task.name: list(folder.read_scores(task.name)) for task in tasks}
        words += screen.closing(scores)
    return words


def _load(name: str | None, registry: Registry) -> Screen | None:
    if name is None:
        return None
    screen: Screen = registry.get("screen", name).load()()
    return screen
