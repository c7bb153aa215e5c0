"""Baselines that need no code: a fixed answer, the doc's target, one of its choices at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.errors import ScoringError
from creval.numerals import number_text
from creval.tasks.task_model import PromptMessage
from creval.tasks.templates.rendering import render
from creval.types.components import Turn

__all__ = ["Fixed", "OneOf", "Target"]


def _field(turn: Turn, name: str) -> Any:
    if name not in turn.doc:
        raise ScoringError(f"the doc has no field {name!r}; it has {', '.join(turn.doc)}", where=turn.key.doc)
    return turn.doc[name]


def _in_form(form: str, value: Any, doc: Mapping[str, Any]) -> str:
    """Fill in the form in which the task wants its answers."""
    text = number_text(value) if isinstance(value, float) else str(value)
    if form == "{{ answer }}":
        return text
    return render([PromptMessage("assistant", form)], {**doc, "answer": text}, Path("baselines"))[0].content


@dataclass(frozen=True)
class Fixed:
    """Says the same to every doc."""

    text: str

    def reply(self, turn: Turn) -> str:
        """Say it."""
        return self.text


@dataclass(frozen=True)
class Target:
    """Says the doc's target (of a list the first), in the form that the task's parsers read."""

    field: str = "target"
    form: str = "{{ answer }}"

    def reply(self, turn: Turn) -> str:
        """Return the target. Raises ScoringError where the doc has none."""
        target = _field(turn, self.field)
        value = target[0] if isinstance(target, list) and target else target
        return _in_form(self.form, value, turn.doc)


@dataclass(frozen=True)
class OneOf:
    """Says one item of a field at random: what guessing among the choices reaches."""

    field: str = "letters"
    form: str = "{{ answer }}"

    def reply(self, turn: Turn) -> str:
        """Return one item. Raises ScoringError where the field holds none."""
        items = _field(turn, self.field)
        if not isinstance(items, list) or not items:
            raise ScoringError(f"the field {self.field!r} holds no list to choose from", where=turn.key.doc)
        return _in_form(self.form, turn.random.choice(items), turn.doc)
