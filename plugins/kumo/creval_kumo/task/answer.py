"""Parse a player's answer: the name inside the last <ANSWER> tag.

As in the original evaluation: the text after the last `<ANSWER>`, up to `</ANSWER>` if there is one, stripped;
if `${` occurs, the part inside `${...}`. Invisible characters are removed first. The game checks whether the name
exists (exact, case-sensitive).
"""

from __future__ import annotations

from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import without_unseen

__all__ = ["AnswerTag", "read_name"]

_OPEN, _CLOSE = "<ANSWER>", "</ANSWER>"


def read_name(text: str) -> str | None:
    """Return the name in the answer tag of a text, or None if there is no tag or it is empty."""
    _, tag, after = without_unseen(text).rpartition(_OPEN)
    if not tag:
        return None
    name = after.partition(_CLOSE)[0].strip()
    if "${" in name:
        name = name.partition("${")[2].partition("}")[0].strip()
    return name or None


class AnswerTag:
    """Parser `kumo_answer`: `read_name`, with a reason if there is no name."""

    def parse(self, text: Any) -> Parsed:
        """Return the name."""
        name = read_name(str(text))
        if name is None:
            reason = "the <ANSWER> tag is empty" if _OPEN in str(text) else "there is no <ANSWER> tag"
            return Parsed.failure(reason, "kumo_answer")
        closed = _CLOSE in str(text).rpartition(_OPEN)[2]
        return Parsed(name, route="kumo_answer/closed" if closed else "kumo_answer/open")
