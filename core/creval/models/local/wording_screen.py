"""How people see a task that has a wording of its own for them, and how what they write becomes an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from creval.tasks.model import Task
from creval.tasks.templates.rendering import render
from creval.types.messages import GenerateRequest
from creval.types.sample import ScoreRecord
from creval.types.screens import View

__all__ = ["WordingScreen"]


class WordingScreen:
    """A `Screen` of a task with `human:`: its wording, and a box for each word where it asks for words.

    Words become the JSON list that a model is asked for (a single one stays as it is), so that the task's own parsers
    read people and models alike.
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
            reading=message.content,
            reading_title="What to do",
            guide=self._human.guide,
            boxes=self._human.words,
        )

    def answer(self, value: str) -> str:
        """Return the text that a model would have written: of several words (a line each) a JSON list."""
        if self._human.words < 2:
            return value.strip()
        words = [word.strip() for word in value.splitlines() if word.strip()]
        return json.dumps(words, ensure_ascii=False)

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> Sequence[str]:
        """Nothing: scores are the experimenter's to tell."""
        return ()
