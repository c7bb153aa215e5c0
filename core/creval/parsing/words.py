"""Parser `words`: a list of items -> a list of clean words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from creval.parsing.list_marks import straighten, strip_edges, strip_marks, strip_quotes
from creval.parsing.list_shape import is_no_item, one_item_a_line, plain_separators
from creval.parsing.refusal import is_refusal, refused
from creval.types.components import Parsed

__all__ = ["Words"]

_GLOSS = re.compile(r"\s[-–—=]\s|\s?[:;(\[{]")
_SEPARATORS = re.compile(r"[\n,;]")
_EDGES = ".,;:!?…)]}>"


@dataclass(frozen=True)
class Words:
    """Refines a list (or a text, split at line breaks, commas and semicolons of any script, and before the numbers of a
    list on one line) to words.

    An item is cleaned in this order: typographic quotes and hyphens to their keyboard form; list marks and numbers,
    quotes and Markdown emphasis taken off; cut before an explanation (a colon, semicolon, opening bracket, or a
    dash between spaces); punctuation and quotes at the end taken off, in whatever order; lower case unless
    `lower: false`. A word consists of letters of any script, with hyphens and apostrophes inside it, and has at least
    `min_letters` letters. What is no word is left out.

    - `limit`: the first so many words are kept.
    - `unique` (default true): a word that came before, in whatever letter case, is left out.
    - `minimum` (default 1): fewer words are a failure that says how many there were.
    - `multiword`: an item of several words is left out (`drop`, the default), kept as it is (`keep`), reduced to its
      first word (`first`), or taken apart (`split`).
    """

    limit: int | None = None
    unique: bool = True
    minimum: int = 1
    multiword: Literal["drop", "keep", "first", "split"] = "drop"
    min_letters: int = 2
    lower: bool = True

    refines: ClassVar[bool] = True
    gives: ClassVar[str | None] = "list"

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, str):
            if is_refusal(text):
                return refused()
            items: Iterable[Any] = _SEPARATORS.split(one_item_a_line(plain_separators(text)))
        elif isinstance(text, list):
            items = text
        else:
            return Parsed.failure(f"expected a list or text, but the parser before it gave a {type(text).__name__}")
        kept: list[str] = []
        seen: set[str] = set()
        for word in self._candidates(items):
            folded = word.casefold()
            if self.unique and folded in seen:
                continue
            seen.add(folded)
            kept.append(word)
        if len(kept) < self.minimum:
            return Parsed.failure(f"{self.minimum} words needed, {len(kept)} found")
        return Parsed(kept[: self.limit], route="words")

    def _candidates(self, items: Iterable[Any]) -> Iterable[str]:
        for item in items:
            if not isinstance(item, str) or is_no_item(item, words=True):
                continue
            words = self._clean(item).split()
            if len(words) > 1:
                if self.multiword == "drop":
                    continue
                if self.multiword == "keep":
                    if all(_is_word(word) for word in words) and self._long_enough("".join(words)):
                        yield " ".join(words)
                    continue
                words = words[:1] if self.multiword == "first" else words
            yield from (word for word in words if _is_word(word) and self._long_enough(word))

    def _clean(self, item: str) -> str:
        text = straighten(unicodedata.normalize("NFC", item))
        text = strip_quotes(strip_marks(strip_quotes(text)))
        text = strip_edges(_GLOSS.split(text, maxsplit=1)[0], _EDGES)
        return text.lower() if self.lower else text

    def _long_enough(self, word: str) -> bool:
        return sum(character.isalpha() for character in word) >= self.min_letters


def _is_word(text: str) -> bool:
    """Letters, with hyphens and apostrophes only between them (a combining mark belongs to its letter)."""
    if not text or not text[0].isalpha() or not (text[-1].isalpha() or unicodedata.combining(text[-1])):
        return False
    return all(c.isalpha() or c in "-'" or unicodedata.combining(c) for c in text)
