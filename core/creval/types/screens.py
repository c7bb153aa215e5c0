"""How a person sees and answers a task: what is shown, who shows it, and where it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from creval.types.messages import GenerateRequest
from creval.types.sample import ScoreRecord

__all__ = ["Choice", "ChoiceGroup", "Desk", "Past", "Screen", "Screens", "View"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be chosen. `value` is its name (unique in the view); `note` what is known of it already."""

    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Choices of one sort under a title, e.g. the actions of a game. `final`: choosing one of them ends the sample."""

    title: str
    choices: tuple[Choice, ...]
    final: bool = False


@dataclass(frozen=True, slots=True)
class Past:
    """One step taken so far and what came of it."""

    step: str
    result: str


@dataclass(frozen=True, slots=True)
class View:
    """All that a person is shown for one call, without a word on terminals or web pages.

    `reading` is the text to work with (markdown where `markdown` is true), `guide` says in plain text how to play.
    Without `groups` the answer is free text, with `boxes` so many single words, a line each (some may stay empty).
    `sample` names the sample, so that a desk notices where the next begins.
    """

    sample: str
    title: str
    goal: str
    reading: str
    reading_title: str = "Text"
    markdown: bool = False
    guide: str = ""
    past_title: str = "So far"
    past: tuple[Past, ...] = ()
    groups: tuple[ChoiceGroup, ...] = ()
    boxes: int = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Every choice of every group, in order."""
        return tuple(choice for group in self.groups for choice in group.choices)


class Screen(Protocol):
    """Kind `screen`: how a person sees the tasks of one protocol; registered under the name of that protocol.

    Registered under the name of a scorer it shows what that scorer asks of another role, to a person who plays it.

    Must show neither more nor less than the messages tell a model; the doc in `request.origin` holds the answer key.
    """

    def view(self, request: GenerateRequest) -> View:
        """Return what to show for a call."""

    def answer(self, value: str) -> str:
        """Return the answer text that a language model would have written for this choice (or text)."""

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> Sequence[str]:
        """Return the last words to the person: sentences on the scores of a finished run, by task."""


class Screens(Protocol):
    """Finds the screen of a task."""

    def __call__(self, task: str, role: str = "target") -> Screen | None:
        """Return the screen of the task's protocol, None where it has none of its own.

        For another role than the target: that of the first scorer that asks the role.
        """


class Desk(Protocol):
    """Where a person sits: a terminal, a web page."""

    async def ask(self, view: View) -> str | None:
        """Show a view and return the value chosen or the text written; None where the person stops.

        What is no choice of the view is refused here and asked again.
        """
