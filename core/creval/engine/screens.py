"""Finds how people see tasks, and what is said to them at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from creval.engine.roles.models import TARGET
from creval.models.local.wording_screen import WordingScreen
from creval.plugins.loader import Plugins, load_plugins
from creval.plugins.registry import Registry
from creval.runs.folder import RunFolder
from creval.tasks.index import TaskIndex
from creval.tasks.model import Task
from creval.types.sample import ScoreRecord
from creval.types.screens import Screen, Screens

__all__ = ["closing_words", "screen_name", "screens_of"]


def screen_name(task: Task, registry: Registry, role: str = TARGET) -> str | None:
    """Return the qualified name of the screen that serves a role of the task, None where there is none.

    It has the name of the task's protocol, or for another role than the target that of the first scorer which asks it.
    """
    asking = [ref for ref in task.score if role in registry.get("scorer", ref.name).roles]
    asked = task.protocol if role == TARGET else next(iter(asking), None)
    name = "" if asked is None else asked.name.rpartition("/")[-1]
    if name not in registry.names("screen"):
        return None
    return registry.get("screen", name, prefer=task.plugin).qualified


def screens_of(tasks: Sequence[Task], plugins: Plugins) -> Screens:
    """Return the function that finds the screen of one of the tasks by the task's name and the role."""
    by_name = {task.name: task for task in tasks}

    def find(task: str, role: str = TARGET) -> Screen | None:
        own = _load(screen_name(by_name[task], plugins.registry, role), plugins.registry)
        worded = own is None and role == TARGET and by_name[task].human is not None
        return WordingScreen(by_name[task]) if worded else own

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
        scores: Mapping[str, Sequence[ScoreRecord]] = {task.name: list(folder.read_scores(task.name)) for task in tasks}
        words += screen.closing(scores)
    return words


def _load(name: str | None, registry: Registry) -> Screen | None:
    if name is None:
        return None
    screen: Screen = registry.get("screen", name).load()()
    return screen
