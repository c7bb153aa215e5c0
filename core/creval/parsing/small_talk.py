"""Openings, headings and closing remarks around a list: no items of it."""

from __future__ import annotations

import re

__all__ = ["is_small_talk", "without_opening"]

_YES = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|alright|all right|great|got it|understood|"
    r"no problem|gladly|yes|thank you|thanks|hello|hi|hey)"
)
_OPENING = re.compile(
    rf"\s*{_YES}(?:(?: there)?\s*[!.:…]+|\s*,(?=\s*(?:here|i|let|these|the following)\b)|\s+[-–—]+\s)\s*", re.IGNORECASE
)
_REMARK = re.compile(
    "|".join(
        (
            rf"(?:{_YES}|enjoy|done|good luck|cheers|you're welcome)\s*[!.…]+$",
            r"here(?: are|'s| is| you go)\b",
            r"these (?:are|words|uses|nouns|ideas|ten|10)\b",
            r"the following\b",
            r"(?:i )?hope (?:this|that|these|it|you)\b",
            r"(?:please )?let me (?:know|think|try|see)\b",
            r"feel free\b",
            r"(?:do not|don't) hesitate\b",
            r"(?:would you like|do you want|is there anything|anything else)\b",
            r"if you(?:'d|'ll| would| want| need| have| like)\b",
            r"(?:i'm |i am )?happy to\b",
            r"i(?:'m| am) (?:glad|here)\b",
            r"i(?:'ve| have|'ll| will)? (?:list(?:ed)?|tried|try|chosen|chose|picked|selected|give|provide)\b",
            r"note(?: that\b|:)",
            r"have (?:fun|an? (?:nice|great|good) day)\b",
            r"(?:thank you|thanks) for\b",
        )
    ),
    re.IGNORECASE,
)


def without_opening(text: str) -> str:
    """Return a text without `Sure!`, `Of course:` and their like at its beginning."""
    match = _OPENING.match(text)
    return text[match.end() :] if match else text


def is_small_talk(line: str) -> bool:
    """Whether a line (typographic quotes straightened) speaks about the list: an opening, a heading, a remark.

    A heading ends in a colon. A word alone (`sure`) is none.
    """
    stripped = line.strip().strip("*_#> ").rstrip()
    return stripped.endswith(":") or _REMARK.match(stripped) is not None
