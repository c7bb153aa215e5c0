"""Reads a player's answer: the name inside the last <ANSWER> tag.

As in the original evaluation: the text after the last `<ANSWER>`, up to `</ANSWER>` where there is one, stripped;
where `${` occurs, the part inside `${...}`. Invisible characters are removed first. Whether the name exists is
for the game to say (exact, case-sensitive).
"""

from __future__ import annotations

from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import without_unseen

__all__ = ["AnswerTag", "read_name"]

_OPEN, _CLOSE = "<ANSWER>", "</ANSWER>"


def read_name(text: str) -> str | None:
    """Return the name that a text answers, or None if there is no tag or nothing in it."""
    _, tag, after = without_unseen(text).rpartition(_OPEN)
    if not tag:
        return None
    name = after.partition(_CLOSE)[0].strip()
    if "${" in name:
        name = name.partition("${")[2].partition("}")[0].strip()
    return name or None


class AnswerTag:
    """Parser `kumo_answer`: `read_name` with a reason where there is none."""

    def parse(self, text: Any) -> Parsed:
        """Return the name."""
        name = read_name(str(text))
        if name is None:
            reason = "the <ANSWER> tag is empty" if _OPEN in str(text) else "there is no <ANSWER> tag"
            return Parsed.failure(reason, "kumo_answer")
        closed = _CLOSE in str(text).rpartition(_OPEN)[2]
        return Parsed(name, route="kumo_answer/closed" if closed else "kumo_answer/open")
