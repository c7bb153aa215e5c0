"""Parsers of the clue game: a clue with its number, and the words that a guesser names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from creval.plugin import Parsed
from creval.plugin.lists import strip_marks
from creval.plugin.parsing import is_refusal, refused, without_unseen

__all__ = ["ClueAndNumber", "GuessedWords"]

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NUMBER = rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})"
_WORD = r"([^\W\d_]{1,30}(?:[-'’][^\W\d_]{1,30}){0,3})"
_QUOTES = r"[\s*_`\"'“”‘’(\[]{0,6}"
_CLUE = re.compile(rf"\bclue(?: word)?\b{_QUOTES}(?::|=|\bis\b){_QUOTES}{_WORD}", re.IGNORECASE)
_COUNT = re.compile(rf"\b(?:number|count)\b{_QUOTES}(?::|=|\bis\b){_QUOTES}{_NUMBER}(?!\w)", re.IGNORECASE)
_PAIR = re.compile(
    rf"[\W_]{{0,8}}(?:clue\W{{1,6}})?{_WORD}(?:[\s,:;*_\"'”’`(\[=–—-]{{1,8}}|\s+for\s+){_NUMBER}[\W_]{{0,8}}",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,;|/\n]|\s+(?:and|&)\s+", re.IGNORECASE)
_GLOSS = re.compile(r"\s[-–—]{1,3}>?\s|[(→]|\s(?:because|since)\s")
_LONGEST = 40


class ClueAndNumber:
    """Reads `{"clue": word, "number": n}`, a clue and a number under their names, or a last line such as `ocean: 2`."""

    def parse(self, text: Any) -> Parsed:
        """Return `clue` (lower case) and `number`, the last ones of the answer, or why there are none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        shown = without_unseen(text)
        if is_refusal(shown):
            return refused()
        clues, counts = _CLUE.findall(shown), _COUNT.findall(shown)
        if clues and counts:
            return _read(clues[-1], counts[-1], "labelled")
        for line in reversed(shown.split("\n")):
            pair = _PAIR.fullmatch(line.strip()) if len(line) < 200 else None
            if pair:
                return _read(pair[1], pair[2], "line")
        return Parsed.failure("no clue with a number in the answer")


def _read(clue: str, number: str, route: str) -> Parsed:
    count = int(number) if number.isdecimal() else _NUMBERS.index(number.lower())
    return Parsed({"clue": clue.lower(), "number": count}, route=route)


class GuessedWords:
    """Reads the words of each paragraph: between commas, on lines of their own, in brackets; labels are cut off."""

    def parse(self, text: Any) -> Parsed:
        """Return a list of words for each paragraph that has some, or why there is none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        shown = without_unseen(text)
        if is_refusal(shown):
            return refused()
        found = [words for words in map(_words, re.split(r"\n[ \t]*\n", shown)) if words]
        return Parsed(found[-100:], route="words") if found else Parsed.failure("no words in the answer")


def _words(paragraph: str) -> Sequence[str]:
    lines = [strip_marks(line.strip()).rpartition(":")[2] for line in paragraph.split("\n")]
    parts = [
        _GLOSS.split(part, maxsplit=1)[0].strip(" \t*_`\"'“”‘’.!?[]{}") for part in _SEPARATORS.split("\n".join(lines))
    ]
    parts = [re.sub(r"^(?:and|&)\s+(?=\S)", "", part, flags=re.IGNORECASE) for part in parts]
    return [part for part in parts if any(map(str.isalpha, part)) and len(part) <= _LONGEST and len(part.split()) <= 3]
