"""What the web page is told: one JSON document for each thing that it can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from creval.models.local.desks.blocks import markdown_blocks, text_blocks
from creval.types.screens import View

__all__ = ["Closing", "ask_state", "closing_state", "opening_state"]


@dataclass(frozen=True, slots=True)
class Closing:
    """The last words on the page: a title, sentences, and a table of results (rows of as many texts as columns)."""

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def opening_state(player: str) -> dict[str, Any]:
    """The page before the first question."""
    return {"phase": "opening", "player": player}


def ask_state(view: View, number: int, player: str, standing: tuple[int, int], notice: str) -> dict[str, Any]:
    """The page with a question. `number` tells questions apart, `standing` is (samples done, samples in all)."""
    blocks = markdown_blocks(view.reading) if view.markdown else text_blocks(view.reading)
    return {
        "phase": "ask",
        "player": player,
        "done": standing[0],
        "total": standing[1],
        "notice": notice,
        "view": number,
        "sample": view.sample,
        "title": view.title,
        "goal": view.goal,
        "guide": view.guide,
        "reading_title": view.reading_title,
        "reading": [block.to_json() for block in blocks],
        "past_title": view.past_title,
        "past": [[past.step, past.result] for past in view.past],
        "boxes": view.boxes,
        "groups": [
            {
                "title": group.title,
                "final": group.final,
                "choices": [[choice.value, choice.note] for choice in group.choices],
            }
            for group in view.groups
        ],
    }


def closing_state(player: str, closing: Closing) -> dict[str, Any]:
    """The page at the end."""
    return {
        "phase": "closing",
        "player": player,
        "title": closing.title,
        "lines": list(closing.lines),
        "columns": list(closing.columns),
        "rows": [list(row) for row in closing.rows],
    }
