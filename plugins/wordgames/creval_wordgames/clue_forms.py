"""Parsers of the clue game: a clue with its number, and the guessed words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from creval.plugin import Parsed
from creval.plugin.lists import strip_marks
from creval.plugin.parsing import is_refusal, refused
from creval_wordgames.answer_text import AND, plain_lines

__all__ = ["ClueAndNumber", "GuessedWords"]

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NUMBER = rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})"
_WORD = r"[^\W\d_]{1,30}(?:[-'’][^\W\d_]{1,30}){0,3}"
_LINKING = rf"(?:and|for|with|because|since|as|number|which|to|that|is|{'|'.join(_NUMBERS)})"
_WORDS = rf"({_WORD}(?:[ _]{{1,2}}(?!{_LINKING}\b){_WORD}){{0,3}})(?![^\W\d_])"
_QUOTES = r"[\s*_`\"'“”‘’(\[]{0,6}"
_NAMED = rf"\bclue(?: word)?\b{_QUOTES}(?::|=|\bis\b){_QUOTES}{_WORDS}"
_CLUE = re.compile(_NAMED, re.IGNORECASE)
_COUNT = re.compile(rf"\b(?:number|count)\b{_QUOTES}(?::|=|\bis\b){_QUOTES}{_NUMBER}(?!\w)", re.IGNORECASE)
_GAP = r"[^\w\n]{1,8}"
_BOTH = re.compile(rf"{_NAMED}{_GAP}(?:(?:for|number)\b{_GAP})?(?<![-–−]){_NUMBER}(?!\w)", re.IGNORECASE)
_PAIR = re.compile(
    rf"[\W_]{{0,8}}(?:clue\W{{1,6}})?{_WORDS}(?:[\s,:;*_\"'”’`(\[=–—-]{{1,8}}|\s+for\s+){_NUMBER}[\W_]{{0,8}}",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(rf"[,;|/\n>:]|\s+{AND}\s+", re.IGNORECASE)
_GLOSS = re.compile(r"\s[-–—]{1,3}>?\s|[(→]|\s(?:because|since)\s")
_UNWANTED = "not|avoid|exclud|reject|left|skip|unused|remain|other|discard|omit"
_NOT_CHOSEN = re.compile(rf"\W*(?:{_UNWANTED})[^:\n]*:", re.IGNORECASE)
_LONGEST = 40


class ClueAndNumber:
    """Reads `{"clue": word, "number": n}`, a clue and a number under their names, or a last line such as `ocean: 2`."""

    def parse(self, text: Any) -> Parsed:
        """Return the answer's last `clue` (lower case) and `number`, or why there are none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        shown = plain_lines(text)
        if is_refusal(shown):
            return refused()
        clues, counts = _CLUE.findall(shown), _COUNT.findall(shown)
        if clues and counts:
            return _read(clues[-1], counts[-1], "labelled")
        both = _BOTH.findall(shown)
        if both:
            return _read(both[-1][0], both[-1][1], "labelled")
        for line in reversed(shown.split("\n")):
            pair = _PAIR.fullmatch(line.strip()) if len(line) < 200 else None
            if pair:
                return _read(pair[1], pair[2], "line")
        return Parsed.failure("no clue with a number in the answer")


def _read(clue: str, number: str, route: str) -> Parsed:
    count = int(number) if number.isdecimal() else _NUMBERS.index(number.lower())
    return Parsed({"clue": clue.lower(), "number": count}, route=route)


class GuessedWords:
    """Reads the words and phrases of each paragraph: between commas and colons, on separate lines, in brackets.

    Lines of words that are not chosen (`Not chosen: ...`) are left out. The scorer decides which phrases are words of
    the board.
    """

    def parse(self, text: Any) -> Parsed:
        """Return a list of words for each paragraph that has some, or why there is none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        shown = plain_lines(text)
        if is_refusal(shown):
            return refused()
        found = [words for words in map(_words, re.split(r"\n[ \t]*\n", shown)) if words]
        return Parsed(found[-100:], route="words") if found else Parsed.failure("no words in the answer")


def _words(paragraph: str) -> Sequence[str]:
    lines = [strip_marks(line.strip()) for line in paragraph.split("\n") if not _NOT_CHOSEN.match(line)]
    parts = [
        _GLOSS.split(part, maxsplit=1)[0].strip(" \t*_`\"'“”‘’.!?[]{}") for part in _SEPARATORS.split("\n".join(lines))
    ]
    parts = [re.sub(rf"^{AND}\s+(?=\S)", "", part, flags=re.IGNORECASE) for part in parts]
    return [part for part in parts if any(map(str.isalpha, part)) and len(part) <= _LONGEST]
