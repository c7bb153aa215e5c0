"""Screens of tasks for people: those of plugins, wordings for people, and closing texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from creval.plugin import Registry, ScoreRecord
from creval.plugin.models import GenerateRequest
from creval.plugin.people import (
    TARGET,
    RunFolder,
    RunTasks,
    Task,
    TaskIndex,
    load_plugins,
    made_here,
    render,
    tasks_here,
)
from creval.plugin.screens import Screen, View

__all__ = ["FindScreen", "WordingScreen", "closing_words", "screen_name", "screens_of"]

FindScreen = Callable[[str, str], Screen | None]
"""Maps task name and role to the screen; None if there is none and the messages are shown."""


def screen_name(task: Task, registry: Registry, role: str = TARGET) -> str | None:
    """Return the qualified name of the screen for a role of the task, None if there is none.

    It has the name of the task's protocol; for a role other than the target, that of the first scorer that uses it.
    """
    asking = [ref for ref in task.score if role in registry.get("scorer", ref.name).asking(ref.parameters).roles]
    asked = task.protocol if role == TARGET else next(iter(asking), None)
    name = "" if asked is None else asked.name.rpartition("/")[-1]
    if name not in registry.names("screen"):
        return None
    return registry.get("screen", name, prefer=task.plugin).qualified


def screens_of(run: RunTasks) -> FindScreen:
    """Return the function that finds the screens of a run's tasks."""

    def find(name: str, role: str) -> Screen | None:
        task = run.tasks[name]
        screen = screen_name(task, run.registry, role)
        if screen is not None:
            return _load(screen, run.registry)
        return WordingScreen(task) if role == TARGET and task.human is not None else None

    return find


class WordingScreen:
    """A `Screen` of a task with `human:`: its wording, and a box for each word if it asks for words.

    Words become the JSON list that a model is asked for (a single one is unchanged), so that the task's parsers
    handle people and models alike.
    """

    def __init__(self, task: Task) -> None:
        assert task.human is not None
        self._task = task
        self._human = task.human

    def view(self, request: GenerateRequest) -> View:
        """Return the wording, filled in with the doc."""
        key = request.origin.key
        (message,) = render([self._human.prompt], request.origin.doc, self._task.file)
        return View(
            sample="\x1f".join((key.task, key.doc, key.condition, str(key.repeat))),
            title=self._task.title,
            goal="",
            reading=message.text,
            reading_title="What to do",
            guide=self._human.guide,
            boxes=self._human.words,
            media=tuple(part for each in request.messages for part in each.media),
        )

    def answer(self, value: str) -> str:
        """Return the text as a model would write it: several words (one per line) become a JSON list."""
        if self._human.words < 2:
            return value.strip()
        words = [word.strip() for word in value.splitlines() if word.strip()]
        return json.dumps(words, ensure_ascii=False)

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> Sequence[str]:
        """Return nothing: the experimenter decides what to say about scores."""
        return ()


def closing_words(path: Path) -> list[str]:
    """Return the screens' texts about the scores of a finished run; tasks of one screen are combined."""
    folder = RunFolder.open(path)
    plugins = load_plugins()
    groups: dict[str, list[Task]] = {}
    manifest = folder.read_manifest()
    for task in TaskIndex(plugins).expand(tasks_here(folder, manifest["requested"], made_here(manifest, path))):
        name = screen_name(task, plugins.registry)
        if name is not None:
            groups.setdefault(name, []).append(task)
    words: list[str] = []
    for name, tasks in groups.items():
        scores = {task.name: list(folder.read_scores(task.name)) for task in tasks}
        words += _load(name, plugins.registry).closing(scores)
    return words


def _load(name: str, registry: Registry) -> Screen:
    screen: Screen = registry.get("screen", name).load()()
    return screen
