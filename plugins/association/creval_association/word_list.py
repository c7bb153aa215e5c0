"""Parser `word_list`: the list of words in an answer, however it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import JsonArray, Parsed, has_mark, straighten, strip_marks, strip_quotes

__all__ = ["WordList"]

_GLOSS = re.compile(r"\s[-–—=]\s|\s?[:;(\[{]")
_LONGEST_ITEM = 4  # words; a longer line is prose
_NOTHING: list[str] = []


@dataclass(frozen=True)
class WordList:
    """Reads a list of at least `minimum` items. The ways that are tried, in order, and their routes:

    1. a JSON array of strings: the whole answer, in a code fence, in prose, inside an object; of several the
       longest, among equals the last (`json_array`, `json_array/fenced`, `json_array/embedded`, ...);
    2. numbered or bulleted lines, each cut before an explanation (`marked_lines`);
    3. the line with the most commas, without an introduction that ends in a colon (`commas`);
    4. plain lines of at most four words (`lines`).

    The items keep their spelling; which of them count as words is for the scorer to say.
    """

    minimum: int = 2

    def parse(self, text: Any) -> Parsed:
        """Return the items as a list of strings, or the reason why there is no list."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        array = JsonArray(items="string", minimum=self.minimum).parse(text)
        if array.ok:
            return array
        ways: Sequence[tuple[str, Callable[[str], list[str]]]] = (
            ("marked_lines", _marked_lines),
            ("commas", _commas),
            ("lines", _lines),
        )
        for route, read in ways:
            items = read(straighten(text))
            if len(items) >= self.minimum:
                return Parsed(items, route=route)
        return Parsed.failure(f"no list of at least {self.minimum} items in the answer")


def _clean(item: str) -> str:
    item = strip_quotes(strip_marks(item))
    return strip_quotes(_GLOSS.split(item, maxsplit=1)[0]).rstrip(".,;:!?").strip()


def _marked_lines(text: str) -> list[str]:
    items = (_clean(line) for line in text.splitlines() if has_mark(line))
    return [item for item in items if _has_letter(item)]


def _commas(text: str) -> list[str]:
    line = max(text.splitlines(), key=lambda line: line.count(","), default="")
    if line.count(",") < 2:
        return _NOTHING
    head, colon, tail = line.partition(":")
    if colon and "," not in head:
        line = tail
    items = [re.sub(r"^(?:and|or)\s+", "", part.strip()) for part in line.strip("[](){} ").split(",")]
    cleaned = [_clean(item) for item in items]
    # Prose has commas too: a list is mostly single words.
    if sum(len(item.split()) <= 2 for item in cleaned) < 0.7 * len(cleaned):
        return _NOTHING
    return [item for item in cleaned if _has_letter(item)]


def _lines(text: str) -> list[str]:
    items = (_clean(line) for line in text.splitlines() if not line.strip().startswith("```"))
    return [item for item in items if _has_letter(item) and len(item.split()) <= _LONGEST_ITEM]


def _has_letter(item: str) -> bool:
    return any(character.isalpha() for character in item)
