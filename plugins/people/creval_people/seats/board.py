"""State of the web page, and the pending answer. Used in the event loop of the web server."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from creval.plugin import MediaPart
from creval.plugin.screens import View
from creval_people.seats.markdown import markdown_blocks, text_blocks

__all__ = ["Board", "Closing", "Refused", "ask_state", "closing_state", "opening_state"]

_LONGEST_ANSWER = 100_000


class Refused(Exception):
    """An answer that cannot be accepted; `stale`: it belongs to an earlier question."""

    def __init__(self, reason: str, stale: bool = False) -> None:
        super().__init__(reason)
        self.stale = stale


class Board:
    """The page's state with a version, so that pages can wait for the next one."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.version = 1
        self.state = state
        self.closing_seen = asyncio.Event()
        self.visited = False
        self._changed = asyncio.Event()
        self._view: View | None = None
        self._number = 0
        self._answer: asyncio.Future[str | None] | None = None
        self._given_up = False

    def show(self, state: dict[str, Any]) -> None:
        """Replace the state."""
        self.version += 1
        self.state = state
        self._changed.set()
        self._changed = asyncio.Event()

    async def newer(self, version: int, seconds: float) -> dict[str, Any]:
        """Return the state with its version, at once if it differs from `version`, else after some seconds."""
        self.visited = True
        if version == self.version:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        return {"version": self.version, **self.state}

    async def answer_to(self, view: View, number: int, state: dict[str, Any]) -> str | None:
        """Show a question and wait for its answer; None if the person stops, and at once after `give_up`."""
        if self._given_up:
            return None
        self._view, self._number = view, number
        self._answer = asyncio.get_running_loop().create_future()
        self.show(state)
        try:
            return await self._answer
        finally:
            self._answer = None

    def take(self, number: Any, value: Any) -> None:
        """Take an answer from a page. Raises Refused, with the reason to show."""
        answer, view = self._open(number)
        if not isinstance(value, str) or not value.strip():
            raise Refused("Choose something first." if view.groups else "An answer may not be empty.")
        if len(value) > _LONGEST_ANSWER:
            raise Refused(f"The answer is longer than {_LONGEST_ANSWER} characters.")
        if view.groups and value not in [choice.value for choice in view.options]:
            raise Refused("That is none of the choices.")
        answer.set_result(value)

    def stop(self, number: Any) -> None:
        """Take a request to stop from a page. Raises Refused."""
        self._open(number)[0].set_result(None)

    def give_up(self) -> None:
        """End the pending question, and every later one, without an answer: the run may be between two questions."""
        self._given_up = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(None)

    def _open(self, number: Any) -> tuple[asyncio.Future[str | None], View]:
        if self._answer is None or self._answer.done() or self._view is None or number != self._number:
            raise Refused("This question is over.", stale=True)
        return self._answer, self._view


@dataclass(frozen=True, slots=True)
class Closing:
    """The closing text on the page: a title, sentences, and a table of results (rows of as many texts as columns)."""

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def opening_state(person: str) -> dict[str, Any]:
    """Return the page before the first question."""
    return {"phase": "opening", "person": person}


_SHOWN_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})


def _data_url(part: MediaPart) -> str:
    return f"data:{part.media_type};base64,{base64.b64encode(part.data).decode('ascii')}"


def ask_state(view: View, number: int, person: str, progress: tuple[int, int], notice: str) -> dict[str, Any]:
    """Return the page with a question. `number` identifies it, `progress` is (samples done, samples in all)."""
    blocks = markdown_blocks(view.reading) if view.markdown else text_blocks(view.reading)
    return {
        "phase": "ask",
        "person": person,
        "done": progress[0],
        "total": progress[1],
        "notice": notice,
        "view": number,
        "sample": view.sample,
        "title": view.title,
        "goal": view.goal,
        "guide": view.guide,
        "reading_title": view.reading_title,
        "reading": [block.to_json() for block in blocks],
        "images": [_data_url(part) for part in view.media if part.media_type in _SHOWN_TYPES],
        "past_title": view.past_title,
        "past": [[past.step, past.result] for past in view.past],
        "boxes": view.boxes,
        "groups": [
            {
                "title": group.title,
                "final": group.final,
                "choices": [[option.value, option.note] for option in group.options],
            }
            for group in view.groups
        ],
    }


def closing_state(person: str, closing: Closing) -> dict[str, Any]:
    """Return the page at the end."""
    return {
        "phase": "closing",
        "person": person,
        "title": closing.title,
        "lines": list(closing.lines),
        "columns": list(closing.columns),
        "rows": [list(row) for row in closing.rows],
    }
