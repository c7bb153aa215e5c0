"""Parser `last_number`: finds the number in an answer; `creval.numerals` reads it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from creval.numerals import Numeral, last_numeral, number_of, read_numeral
from creval.parsing.base import TextParser, not_text
from creval.parsing.cues import CUE, LINK, boxed_spans
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["LastNumber"]

_END = re.compile(r"[.。!?！？](?=\s|$)|\n|$")
_EARLY_END = re.compile(r"[,;](?=\s)|\s\(|\s(?:because|since|as|which|so)\s")
_BULLET = re.compile(r"\s*[-–*+•]\s")
_JSON_TEXT = re.compile(r'[:\[,]\s{0,9}("(?:[^"\\\n]|\\.){1,200}")(?=\s{0,9}[,}\]])')
_TAG_TEXT = re.compile(r"<(answer|final_answer|final|result|solution)>([^<>]{1,400})</\1>", re.IGNORECASE)
_LAST_CELL = re.compile(r"\|([^|\n]{1,200})\|\s*\Z")
_LONGEST_FIELD = 400
_LONGEST_LINK = 80
_MOST_FIELDS = 50
_HAS_DIGIT = re.compile(r"\d|[¼-¾⅐-⅞]")


class _Field(NamedTuple):
    """A part of an answer that may be only a number; `box` if it is the content of a `\\boxed{}`."""

    start: int
    end: int
    box: bool = False


@dataclass(frozen=True)
class LastNumber(TextParser):
    """The last number of a text: a float if a float prints as that number, else a whole number of any length.

    It reads signs, groups of three digits, decimals, exponents, fractions and LaTeX, and ignores a unit or currency
    next to the number (the route says `percent` for a number with a percent sign). If an answer field contains only the
    number, `1/2`, `3 250` and `12,34,567` are read too. Digits that cannot be read as a whole are a failure; a part of
    them is never the answer. `decimal`: `comma` if the task's answers are written as `1.234,56`.
    """

    decimal: Literal["point", "comma"] = "point"

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, int | float) and not isinstance(text, bool):
            return Parsed(number_of(Decimal(text)) if isinstance(text, int) else text, route="last_number")
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        comma = self.decimal == "comma"
        try:
            found = _last_number(text, comma)
        except ValueError as error:
            return Parsed.failure(str(error))
        if found is None:
            return Parsed.failure("no number in the answer")
        return Parsed(number_of(found.value), route="last_number/percent" if found.unit == "%" else "last_number")


def _last_number(text: str, comma: bool) -> Numeral | None:
    """Return the number that ends last. Raises ValueError if it cannot be read as a whole."""
    if not _HAS_DIGIT.search(text):
        return None
    for start, end, box in sorted(_fields(text), key=lambda field: field.end, reverse=True):
        content = text[start:end]
        if len(content) > _LONGEST_FIELD or not _HAS_DIGIT.search(content):
            continue
        try:
            field = read_numeral(content, comma)
        except ValueError:
            if box:
                after = last_numeral(text[end:], comma)
                if after is None:
                    raise
                return after
            continue
        return last_numeral(text[end:], comma) or field
    return last_numeral(text, comma)


def _fields(text: str) -> Iterator[_Field]:
    """Yield the answer fields of a text: boxes, after a cue, in JSON or a tag, the last cell, the last line."""
    for _, end, content in boxed_spans(text):
        yield _Field(content, end - 1, box=True)
    for cue in deque(CUE.finditer(text), _MOST_FIELDS):
        yield from _after_cue(text, cue)
    for match in deque(_JSON_TEXT.finditer(text), _MOST_FIELDS):
        yield _Field(*match.span(1))
    for match in deque(_TAG_TEXT.finditer(text), _MOST_FIELDS):
        yield _Field(*match.span(2))
    if cell := _LAST_CELL.search(text, max(0, len(text) - _LONGEST_FIELD)):
        yield _Field(*cell.span(1))
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    ends_in_word = text[start:end].rstrip(" .,;:!?*_")[-1:].isalpha()  # "9/11 happened" is not a number alone
    if end - start <= _LONGEST_FIELD and not ends_in_word and not _BULLET.match(text, start):
        yield _Field(start, end)


def _after_cue(text: str, cue: re.Match[str]) -> Iterator[_Field]:
    """Yield possible answers after a cue: from each of its links to the end of the sentence or clause."""
    starts = [cue.end()] if cue["other"] or cue["hashes"] else []
    link_end = min(cue.end() + _LONGEST_LINK, len(text))
    starts += [link.end() for link in LINK.finditer(text, cue.end(), link_end)]
    for start in starts:
        begin = start + len(text[start : start + 20]) - len(text[start : start + 20].lstrip())
        if "\n" in text[start:begin] and _BULLET.match(text, begin):
            continue
        limit = min(begin + _LONGEST_FIELD, len(text))
        whole = _END.search(text, begin, limit)
        early = _EARLY_END.search(text, begin, limit)
        for match in (whole, early):
            if match is not None:
                yield _Field(begin, match.start())
