"""Baselines of every data set: the right answer, and that of another item."""

from __future__ import annotations

from typing import Any

from creval.plugin import Turn
from creval_reasoning_gym.library import entry
from creval_reasoning_gym.protocol import at_level
from creval_reasoning_gym.solutions import solution
from creval_reasoning_gym.source import made_of

__all__ = ["OtherAnswer", "RightAnswer"]


class RightAnswer:
    """Answers with the library's stored answer, or one found by search."""

    def reply(self, turn: Turn) -> str:
        """Return the answer in tags."""
        level = _level(turn)
        stored = at_level(turn.doc, level)["answer"]
        return _tagged(solution(entry(*made_of(turn.doc, level))) if stored is None else stored)


class OtherAnswer:
    """Answers with the stored answer to the next item, which is right as often as two items share an answer."""

    def reply(self, turn: Turn) -> str:
        """Return the answer in tags; a question mark if the library stores none."""
        return _tagged(at_level(turn.doc, _level(turn))["other"])


def _level(turn: Turn) -> int | None:
    found: Any = turn.condition.settings.get("level")
    return found if "levels" in turn.doc else None


def _tagged(answer: str | None) -> str:
    return f"<answer>{'?' if answer is None else answer}</answer>"
