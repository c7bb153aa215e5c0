"""How a person sees and answers a task: the view, the screen that makes it, and the seat that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from creval.types.content import MediaPart
from creval.types.messages import GenerateRequest
from creval.types.sample import ScoreRecord

__all__ = ["OptionGroup", "PastStep", "Screen", "ScreenOption", "Seat", "View"]


@dataclass(frozen=True, slots=True)
class ScreenOption:
    """One option to choose. `value` is its name (unique in the view), `note` what is already known about it."""

    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options under a title, e.g. the actions of a game. `final`: choosing one of them ends the sample."""

    title: str
    options: tuple[ScreenOption, ...]
    final: bool = False


@dataclass(frozen=True, slots=True)
class PastStep:
    """One step taken so far and its result."""

    step: str
    result: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a person is shown for one call, the same for terminals and web pages.

    `reading` is the text to work with (markdown where `markdown` is true), `guide` says in plain text how to play.
    Without `groups` the answer is free text; with `boxes` it is up to that many single words, one per line.
    `media` are the images, audio and files of the messages; a page shows the images, a terminal says where they are.
    `sample` identifies the sample, so that a seat notices when the next one begins.
    """

    sample: str
    title: str
    goal: str
    reading: str
    reading_title: str = "Text"
    markdown: bool = False
    guide: str = ""
    past_title: str = "So far"
    past: tuple[PastStep, ...] = ()
    groups: tuple[OptionGroup, ...] = ()
    boxes: int = 0
    media: tuple[MediaPart, ...] = ()

    @property
    def options(self) -> tuple[ScreenOption, ...]:
        """Every option of every group, in order."""
        return tuple(option for group in self.groups for option in group.options)


class Screen(Protocol):
    """Kind `screen`: how a person sees the tasks of one protocol; registered under the name of that protocol.

    Registered under the name of a scorer, it shows the questions of that scorer to a person who plays the role.

    It must show exactly what a model gets in the messages; the doc in `request.origin` holds the answer key.
    """

    def view(self, request: GenerateRequest) -> View:
        """Return the view to show for a call."""

    def answer(self, value: str) -> str:
        """Return the answer text that a language model would have written for this choice (or text)."""

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> Sequence[str]:
        """Return sentences for the person about the scores of a finished run, by task."""


class Seat(Protocol):
    """Where a person sits: a terminal, a web page."""

    async def ask(self, view: View) -> str | None:
        """Show a view and return the value chosen or the text written, or None if the person stops.

        A seat refuses a choice that is not an option of the view, and asks again.
        """
