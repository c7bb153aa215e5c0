"""A prompt with examples before the question: as turns of the conversation, or as text before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.tasks.model import FewShot, PromptMessage, Task
from creval.tasks.templates.rendering import render
from creval.types.messages import Message

__all__ = ["SHOTS", "render_prompt"]

SHOTS = "shots"
"""The field of a doc that holds the fields of its examples."""
PLAIN = "prompt"


def render_prompt(task: Task, name: str, fields: Mapping[str, Any]) -> list[Message]:
    """Render a prompt of a task for a doc; the task's `prompt` with the examples that `few_shot` gives the doc.

    An example is the prompt's last message of the user, filled in with the example, and the answer by `few_shot`'s
    template. Raises TaskError as `render` does, UnknownNameError where there is no such prompt.
    """
    templates = task.find_prompt(name)
    messages = render(templates, fields, task.file)
    shots = fields.get(SHOTS)
    if task.few_shot is None or name != PLAIN or not shots:
        return messages
    last = max(place for place, message in enumerate(templates) if message.role == "user")
    pairs = [_pair(templates[last], task.few_shot, shot, task) for shot in shots]
    if task.few_shot.turns:
        turns = [turn for ask, say in pairs for turn in (Message("user", ask), Message("assistant", say.strip()))]
        return [*messages[:last], *turns, *messages[last:]]
    text = "\n\n".join([*(f"{ask}{say}" for ask, say in pairs), messages[last].content])
    return [*messages[:last], Message("user", text), *messages[last + 1 :]]


def _pair(question: PromptMessage, few_shot: FewShot, shot: Mapping[str, Any], task: Task) -> tuple[str, str]:
    answer = PromptMessage("assistant", few_shot.answer, few_shot.line, few_shot.file_of_answer)
    asked, said = render([question, answer], shot, task.file)
    return asked.content, said.content
