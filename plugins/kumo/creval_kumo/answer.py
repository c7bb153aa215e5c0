"""Parser `kumo_answer`: the name inside the last <ANSWER> tag.

As in the original evaluation: the text after the last `<ANSWER>`, up to `</ANSWER>` where there is one, stripped;
where `${` occurs, the part inside `${...}`. Whether the name exists is for the game to say (exact, case-sensitive).
"""

from __future__ import annotations

from typing import Any

from creval.types.components import Parsed

__all__ = ["AnswerTag"]

_OPEN, _CLOSE = "<ANSWER>", "</ANSWER>"


class AnswerTag:
    """Reads the answer tag. A text without one cannot be read."""

    def parse(self, text: Any) -> Parsed:
        """Return the name."""
        _, tag, after = str(text).rpartition(_OPEN)
        if not tag:
            return Parsed.failure("there is no <ANSWER> tag", "kumo_answer")
        name = after.partition(_CLOSE)[0].strip()
        if "${" in name:
            name = name.partition("${")[2].partition("}")[0].strip()
        if not name:
            return Parsed.failure("the <ANSWER> tag is empty", "kumo_answer")
        return Parsed(name, route="kumo_answer/closed" if _CLOSE in after else "kumo_answer/open")
