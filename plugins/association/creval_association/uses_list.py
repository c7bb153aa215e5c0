"""Parser `uses_list`: short phrases separated by semicolons, as AUT asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed, straighten, strip_marks, strip_quotes
from creval_association.word_list import WordList

__all__ = ["UsesList"]

_LONGEST_USE = 15  # words; longer is prose


@dataclass(frozen=True)
class UsesList:
    """Reads phrases at semicolons (`semicolons`); without any, a list in another form as `word_list` reads it,
    else one phrase a line (`lines`).
    """

    def parse(self, text: Any) -> Parsed:
        """Return the phrases as a list of strings, or the reason why there is no list."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        text = straighten(text)
        if ";" in text:
            head, colon, tail = text.partition(":")
            body = tail if colon and ";" not in head else text
            items = [_clean(item) for item in body.replace("\n", ";").split(";")]
            if uses := [item for item in items if item]:
                return Parsed(uses, route="semicolons")
        listed = WordList().parse(text)
        if listed.ok and not listed.route.startswith("lines"):
            return listed
        lines = [_clean(line) for line in text.splitlines()]
        if uses := [line for line in lines if line]:
            return Parsed(uses, route="lines")
        return Parsed.failure("no list of uses in the answer")


def _clean(item: str) -> str:
    item = strip_quotes(strip_marks(item)).rstrip(".,;:!?").strip()
    words = item.split()
    return item if any(c.isalpha() for c in item) and len(words) <= _LONGEST_USE else ""
