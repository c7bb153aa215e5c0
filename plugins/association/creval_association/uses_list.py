"""Parser `uses_list`: short phrases separated by semicolons, as AUT asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed
from creval.plugin.lists import (
    has_mark,
    is_no_item,
    one_item_a_line,
    plain_separators,
    speaks_of_the_last,
    straighten,
    strip_edges,
    strip_marks,
)
from creval.plugin.parsing import JsonArray, holds_json, is_refusal, refused, without_unseen
from creval_association.small_talk import is_small_talk, without_talk
from creval_association.word_list import SEVERAL_LISTS, WordList, unnumbered

__all__ = ["UsesList"]

_TABLE = re.compile(r"\s*\|.*\|\s*$")
_LONGEST_USE = 15  # words; longer is prose
_BRACKETS = re.compile(r"\([^()]*\)")
_EXPLAINED = re.compile(r"[^;:]{1,100}:[^;]*;.*\w")
_SPEECH = re.compile(
    r"(?:i|we|i'm|i'd|i'll|i've|could you|can you|do you|let me|as an? (?:\w+ )?(?:ai|model))\b(?!-)"
    r"|(?:no|nope|sorry)(?:[,.!]|$)|nothing comes to mind",
    re.IGNORECASE,
)
"""The beginning of a sentence in the first person: no use begins with it."""
_NO_USE = "no list of uses in the answer"


@dataclass(frozen=True)
class UsesList:
    """Reads the JSON array if the answer contains JSON; else phrases separated by semicolons (`semicolons`); else any
    list that `word_list` reads; else one phrase per line (`lines`).

    A refusal is a failure, and so is a marked list with semicolons after a colon in its lines: they may be uses or
    explanations. Openings, questions, sentences in the first person (`I ...`), headings, closing remarks, `N/A` and
    similar, table rows, and paragraphs without a semicolon next to paragraphs with one do not count as uses. If one of
    several paragraphs is called final, only it counts. `key` and `field` name the list and its texts in JSON.
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
            return _json(array)
        text = one_item_a_line(plain_separators(without_talk(straighten(text)), ";"))
        text = _BRACKETS.sub(lambda match: match[0].replace(";", ","), text)
        marked = [line for line in text.splitlines() if has_mark(line)]
        if len([line for line in marked if _EXPLAINED.match(strip_marks(line))]) >= 2:
            return Parsed.failure("semicolons after colons in a marked list: uses or explanations", SEVERAL_LISTS)
        if ";" in text and (uses := [use for use in map(_clean, _at_semicolons(text)) if use]):
            return Parsed(uses, route="semicolons")
        listed = WordList(key=self.key, field=self.field).parse(text)
        if listed.ok and not listed.route.startswith("lines"):
            uses = [use for use in listed.value if not is_no_item(use)]
            return Parsed(uses, route=listed.route) if uses else Parsed.failure(_NO_USE)
        if listed.route == SEVERAL_LISTS:
            return listed
        if uses := [use for line in unnumbered(text.splitlines()) if (use := _clean(line)) and ";" not in use]:
            return Parsed(uses, route="lines")
        return Parsed.failure(_NO_USE)


def _json(array: Parsed) -> Parsed:
    if not array.ok:
        return array
    uses = [use for use in without_unseen(array.value) if use.strip() and not is_no_item(use)]
    return Parsed(uses, route=array.route) if uses else Parsed.failure(_NO_USE)


def _at_semicolons(text: str) -> Iterator[str]:
    """Yield the parts between semicolons and line breaks of the paragraphs that have semicolons."""
    paragraphs = [paragraph for paragraph in text.split("\n\n") if ";" in paragraph]
    final = [paragraph for paragraph in paragraphs if speaks_of_the_last(_heading(paragraph))]
    for paragraph in final if len(final) == 1 else paragraphs:
        body = paragraph.partition(":")[2] if _heading(paragraph) else paragraph
        for line in body.splitlines():
            if ";" in line or not is_small_talk(line):
                yield from line.split(";")


def _heading(paragraph: str) -> str:
    head, colon, _ = paragraph.partition(":")
    return head if colon and ";" not in head else ""


def _clean(item: str) -> str:
    if is_small_talk(item) or is_no_item(strip_marks(item)):
        return ""
    if _TABLE.match(item) or item.rstrip("\"'*_ ").endswith("?"):
        return ""
    item = re.sub(r"^(?:and|or)\s+", "", strip_edges(strip_marks(item)))
    if _SPEECH.match(item):
        return ""
    words = item.split()
    return item if any(c.isalpha() for c in item) and len(words) <= _LONGEST_USE else ""
