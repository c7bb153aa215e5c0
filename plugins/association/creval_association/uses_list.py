"""Parser `uses_list`: short phrases separated by semicolons, as AUT asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from creval.plugin import (
    JsonArray,
    Parsed,
    holds_json,
    is_refusal,
    is_small_talk,
    refused,
    straighten,
    strip_edges,
    strip_marks,
    without_opening,
    without_unseen,
)
from creval_association.word_list import WordList

__all__ = ["UsesList"]

_LONGEST_USE = 15  # words; longer is prose


@dataclass(frozen=True)
class UsesList:
    """Reads the JSON array of an answer that holds JSON; else phrases at semicolons (`semicolons`); without any, a list
    in another form as `word_list` reads it; else one phrase a line (`lines`).

    A plain refusal is a failure. Openings, headings, closing remarks and paragraphs without a semicolon beside those
    with some are no uses. `key` and `field` name the list and its texts in JSON.
    """

    key: str = "uses"
    field: str = "use"

    def parse(self, text: Any) -> Parsed:
        """Return the phrases as a list of strings, or the reason why there is no list."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        text = without_unseen(text)
        if is_refusal(text):
            return refused()
        if holds_json(text):
            array = JsonArray(items="string", key=self.key, field=self.field).parse(text)
            return Parsed(without_unseen(array.value), route=array.route) if array.ok else array
        text = without_opening(straighten(text))
        if ";" in text and (uses := [use for use in map(_clean, _at_semicolons(text)) if use]):
            return Parsed(uses, route="semicolons")
        listed = WordList(key=self.key, field=self.field).parse(text)
        if listed.ok and not listed.route.startswith("lines"):
            return listed
        if uses := [use for use in map(_clean, text.splitlines()) if use]:
            return Parsed(uses, route="lines")
        return Parsed.failure("no list of uses in the answer")


def _at_semicolons(text: str) -> Iterator[str]:
    """Yield the parts between semicolons and line breaks of the paragraphs that have semicolons."""
    for paragraph in text.split("\n\n"):
        if ";" not in paragraph:
            continue
        head, colon, tail = paragraph.partition(":")
        body = tail if colon and ";" not in head else paragraph
        for line in body.splitlines():
            if ";" in line or not is_small_talk(line):
                yield from line.split(";")


def _clean(item: str) -> str:
    if is_small_talk(item):
        return ""
    item = strip_edges(strip_marks(item))
    words = item.split()
    return item if any(c.isalpha() for c in item) and len(words) <= _LONGEST_USE else ""
