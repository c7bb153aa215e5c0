"""Screens for `openended.labels` and `openended.ranks`, for a person in the judge's role.

The messages are a system text with the instructions and a user text whose last paragraph is the question; the choices
are in that paragraph, one per line: `1: feasible`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from creval.plugin import ScoreRecord
from creval.plugin.models import GenerateRequest
from creval.plugin.screens import OptionGroup, ScreenOption, View

__all__ = ["JudgeScreen"]

_CHOICE = re.compile(r"^(1|0|2|3|4|QA1|QA2): (.*)$", re.MULTILINE)


class JudgeScreen:
    """Instructions as the guide, problem and solution as the text, the last paragraph as question and choices."""

    def view(self, request: GenerateRequest) -> View:
        """Return what to show for a question."""
        guide = "\n\n".join(message.text for message in request.messages if message.role == "system")
        reading, _, asked = request.messages[-1].text.rstrip().rpartition("\n\n")
        choices = tuple(ScreenOption(value, note) for value, note in _CHOICE.findall(asked))
        goal = asked[: _CHOICE.search(asked).start()].strip() if choices else asked  # type: ignore[union-attr]
        key = request.origin.key
        return View(
            sample=f"{key.task}\x1f{key.doc}\x1f{key.condition}\x1f{key.repeat}",
            title="You judge",
            goal=goal,
            reading=reading,
            reading_title="Problem and solution",
            guide=guide,
            groups=(OptionGroup("Your judgement", choices),) if choices else (),
        )

    def answer(self, value: str) -> str:
        """Return the choice unchanged: the prompt requests the same from a model."""
        return value

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> Sequence[str]:
        """Return nothing to say."""
        return []
