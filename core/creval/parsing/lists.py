"""Parsers `lines`, `text` and `words`, for lists in answers: their marks, lists on one line, items such as `N/A`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from creval.format import counted
from creval.lazy_pattern import lazy_pattern
from creval.parsing.base import TextParser, not_text
from creval.parsing.refusal import is_refusal, refused
from creval.types.components import Parsed

__all__ = [
    "Lines",
    "Text",
    "Words",
    "has_mark",
    "is_no_item",
    "one_item_a_line",
    "plain_separators",
    "straighten",
    "strip_edges",
    "strip_marks",
]


# --- marks, quotes and emphasis around an item ---

# "1." "1)" "(1)" "1:" "[1]" "**1.**", keycaps and circled numbers before anything, a quote around the list before
# them; "-", "*", "a)", "iv.", "#1", "1 -" only before a space ("-" before a letter too); signs that are only bullets
# anywhere; the box of a list of things to do after one of these; the ">" of quoted text before it
_BOX = r"(?:\[[ xX✓]?\]\s{1,100})?"

_MARK = lazy_pattern(
    r"\s{0,100}(?:>\s{0,100})?(?:"
    r"[\"'“]?[*_]{0,3}(?:\(?\d{1,3}[.):．）：、](?!\d)|\[\d{1,3}\][.:)]?|\d{1,2}\ufe0f?\u20e3|[🔟①-⑳❶-❿])[*_]{0,3}\s{0,100}"
    r"|(?:[-*+–—]|\(?(?:[A-Za-z]|[ivxIVX]{2,5})[.)]|#\d{1,3}[.:]?|\d{1,3}\s[-–—])\s{1,100}" + _BOX + r"|-(?=[^\W\d_])"
    r"|[•‣◦▪·●○■□➤➢►▶▸✓✔✅☑➔◆◇★☆⁃∙🔹🔸🔷🔶]\ufe0f?\s{0,100}" + _BOX + ")"
)

_QUOTED = lazy_pattern(r"\s{0,100}>\s{1,100}")

_CURLY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "‑": "-", "‐": "-"})

_WRAPPING = "\"'`*_#«»‹›„‚“”‘’＂＇「」『』《》〈〉【】"


def has_mark(line: str) -> bool:
    """Whether a line begins with a number, bullet or letter of a list."""
    return _MARK.match(line) is not None


def strip_marks(line: str) -> str:
    """Return a line without the mark at its beginning and the spaces around it."""
    match = _MARK.match(line) or _QUOTED.match(line)
    return line[match.end() :].strip() if match else line.strip()


def straighten(text: str) -> str:
    """Return a text with typographic quotes and hyphens in their keyboard form."""
    return text.translate(_CURLY)


def strip_quotes(text: str) -> str:
    """Return a text without quotes and Markdown emphasis around it; those inside stay."""
    return text.strip().strip(_WRAPPING).strip()


def strip_edges(text: str, punctuation: str = ".,;:!?") -> str:
    """Return a text without quotes around it and punctuation at its end, in any order (`"apple",`)."""
    while (shorter := strip_quotes(strip_quotes(text).rstrip(punctuation))) != text:
        text = shorter
    return text


# --- lists on one line, and what is in a list in place of an item ---

_SIGNS = str.maketrans({"，": ",", "،": ",", "﹐": ",", "；": ";", "؛": ";"})

_NUMBERED = lazy_pattern(r"(?<![^\s,;:：,，、;；])[*_]{0,3}\(?(\d{1,2})([.)．）、:])[*_]{0,3}(?!\d)[ \t]*(?=\S)")

_LETTERED = lazy_pattern(r"(?<![^\s,;:：])\(?([a-z])(\))[ \t]+(?=\S)", re.IGNORECASE)

_CIRCLED = lazy_pattern(r"(?<=\S)[ \t]*(?=[①-⑳❶-❿])")

_SURE = ")）"
"""Signs that rarely follow a number in prose: two in a row make a list, of other signs three."""

_NOTHING = lazy_pattern(
    r"n/?a|n\. ?a\.?|none|null|nil|nothing|not applicable|no (?:answer|response|uses?|words?|items?|idea|comment)"
    r"|refus(?:ed|al)|declined|redacted|omitted|blank|empty|skipped|unknown|undefined|nan",
    re.IGNORECASE,
)

_WORDS = frozenset({"nothing", "null", "nil", "refusal", "nan", "blank", "unknown"})
"""Those that are also words: in a list of words they are items, unless in brackets."""

_BRACKETED = lazy_pattern(r"[\[(<{]\s*(.*?)\s*[\])>}]")


def plain_separators(text: str, enumerating: str = ",") -> str:
    """Return a text with the commas and semicolons of other scripts as ASCII; `、` becomes `enumerating`.

    After a number, `、` is a mark (`1、`) and stays.
    """
    return re.sub(r"(?<!\d)、", enumerating, text.translate(_SIGNS))


def one_item_a_line(text: str) -> str:
    """Return a text with a line break before each number of a list on one line (`1) a 2) b 3) c`).

    The marks of such a list count up from 1 (from a), with the same sign.
    """
    return "\n".join(_split(line) for line in text.split("\n"))


def _split(line: str) -> str:
    line = _CIRCLED.sub("\n", line)
    for pattern, first in ((_NUMBERED, 1), (_LETTERED, ord("a"))):
        places: list[int] = []
        sign = ""
        for match in pattern.finditer(line):
            count = int(match[1]) if first == 1 else ord(match[1].lower())
            if count == first + len(places) and match[2] == (sign or match[2]):
                places.append(match.start())
                sign = match[2]
        if len(places) >= (2 if sign in _SURE and first == 1 else 3):
            for place in reversed(places):
                line = f"{line[:place].rstrip()}\n{line[place:]}" if line[:place].strip() else line
            return line
    return line


def is_no_item(item: str, words: bool = False) -> bool:
    """Whether an item says that there is none: `N/A`, `none`, `[refused]`. `words`: in a list of words."""
    plain = item.strip().strip("\"'*_.!- ")
    bracketed = _BRACKETED.fullmatch(plain)
    inner = bracketed[1].strip(".! ") if bracketed else plain
    if _NOTHING.fullmatch(inner) is None:
        return False
    return bool(bracketed) or (not (words and inner.lower() in _WORDS) and (inner.lower() != "na" or inner == "NA"))


# --- the parser ---

_GLOSS = lazy_pattern(r"\s[-–—=]\s|\s?[:;(\[{]")

_SEPARATORS = lazy_pattern(r"[\n,;]")

_EDGES = ".,;:!?…)]}>"


@dataclass(frozen=True)
class Words:
    """Refines a list (or a text, split at line breaks, commas and semicolons of any script, and before the numbers of a
    list on one line) to words.

    An item is cleaned in this order: typographic quotes and hyphens to their keyboard form; list marks and numbers,
    quotes and Markdown emphasis removed; cut before an explanation (a colon, semicolon, opening bracket, or a dash
    between spaces); punctuation and quotes at the end removed, in any order; lower case unless `lower: false`. A word
    consists of letters of any script, with hyphens and apostrophes inside it, and has at least `min_letters` letters.
    Items that are not words are left out.

    - `limit`: only the first `limit` words are kept.
    - `unique` (default true): a word that occurred before, in any letter case, is left out.
    - `minimum` (default 1): fewer words are a failure that states their number.
    - `multiword`: an item of several words is left out (`drop`, the default), kept as it is (`keep`), reduced to its
      first word (`first`), or taken apart (`split`).
    """

    limit: int | None = None
    unique: bool = True
    minimum: int = 1
    multiword: Literal["drop", "keep", "first", "split"] = "drop"
    min_letters: int = 2
    lower: bool = True

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
            return Parsed.failure(f"{counted(self.minimum, 'words')} needed, {len(kept)} found")
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
    """Whether a text is letters, with hyphens and apostrophes only between them (combining marks are allowed)."""
    if not text or not text[0].isalpha() or not (text[-1].isalpha() or unicodedata.combining(text[-1])):
        return False
    return all(c.isalpha() or c in "-'" or unicodedata.combining(c) for c in text)


@dataclass(frozen=True)
class Lines(TextParser):
    """The lines of an answer, stripped, without blank ones, code fences and list marks.

    Lines that say there is none (`N/A`) are left out; a list on one line (`1) a 2) b`) becomes one line per item.

    `marked`: only lines that begin with a list mark (`1.`, `-`, `a)`). `keep_marks`: keep the marks. `limit`: keep only
    the first `limit` lines. `minimum`: fewer lines are a failure.
    """

    marked: bool = False
    keep_marks: bool = False
    limit: int | None = None
    minimum: int = 1

    spots_refusals: ClassVar[bool] = True

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        kept = []
        for line in one_item_a_line(text).splitlines():
            if self.marked and not has_mark(line):
                continue
            item = line.strip() if self.keep_marks else strip_marks(line)
            if item and not item.startswith("```") and not is_no_item(item):
                kept.append(item)
        if len(kept) < self.minimum:
            kind = "marked lines" if self.marked else "lines"
            return Parsed.failure(f"{self.minimum} {kind} needed, {len(kept)} found")
        return Parsed(kept[: self.limit], route="lines")


@dataclass(frozen=True)
class Text(TextParser):
    """The whole answer, stripped."""

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        return refused() if self.is_refusal(text) else Parsed(text.strip(), route="text")
