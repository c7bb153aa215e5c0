"""Lists in one line, and what stands in a list in place of an item."""

from __future__ import annotations

import re

__all__ = ["is_no_item", "one_item_a_line", "plain_separators"]

_SIGNS = str.maketrans({"，": ",", "،": ",", "﹐": ",", "；": ";", "؛": ";"})
_NUMBERED = re.compile(r"(?<![^\s,;:：,，、;；])[*_]{0,3}\(?(\d{1,2})([.)．）、:])[*_]{0,3}(?!\d)[ \t]*(?=\S)")
_LETTERED = re.compile(r"(?<![^\s,;:：])\(?([a-z])(\))[ \t]+(?=\S)", re.IGNORECASE)
_CIRCLED = re.compile(r"(?<=\S)[ \t]*(?=[①-⑳❶-❿])")
_SURE = ")）"
"""Signs that hardly ever stand after a number in prose: two in a row are a list; of others it takes three."""
_NOTHING = re.compile(
    r"n/?a|n\. ?a\.?|none|null|nil|nothing|not applicable|no (?:answer|response|uses?|words?|items?|idea|comment)"
    r"|refus(?:ed|al)|declined|redacted|omitted|blank|empty|skipped|unknown|undefined|nan",
    re.IGNORECASE,
)
_WORDS = frozenset({"nothing", "null", "nil", "refusal", "nan", "blank", "unknown"})
"""Which of these are words too: where words are listed they are items, unless in brackets."""
_BRACKETED = re.compile(r"[\[(<{]\s*(.*?)\s*[\])>}]")


def plain_separators(text: str, enumerating: str = ",") -> str:
    """Return a text with the commas and semicolons of other scripts as ASCII; `、` becomes `enumerating`.

    After a number `、` is a mark (`1、`) and stays.
    """
    return re.sub(r"(?<!\d)、", enumerating, text.translate(_SIGNS))


def one_item_a_line(text: str) -> str:
    """Return a text with a line break before each number of a list that stands on one line (`1) a 2) b 3) c`).

    Such are marks that count up from 1 (from a), with the same sign.
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
    """Whether an item of a list says that there is none: `N/A`, `none`, `[refused]`. `words`: of a list of words."""
    plain = item.strip().strip("\"'*_.!- ")
    bracketed = _BRACKETED.fullmatch(plain)
    inner = bracketed[1].strip(".! ") if bracketed else plain
    if _NOTHING.fullmatch(inner) is None:
        return False
    return bool(bracketed) or (not (words and inner.lower() in _WORDS) and (inner.lower() != "na" or inner == "NA"))
