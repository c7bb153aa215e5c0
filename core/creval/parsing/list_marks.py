"""Taking list marks, quotes and Markdown emphasis off an item of a list."""

from __future__ import annotations

import re

__all__ = ["has_mark", "straighten", "strip_edges", "strip_marks", "strip_quotes"]

# "1." "1)" "(1)" "1:" "[1]" "**1.**", keycaps and circled numbers before anything, a quote around the list before
# them; "-", "*", "a)", "iv.", "#1", "1 -" only before a space ("-" before a letter too); signs that are only bullets
# anywhere; the box of a list of things to do after one of these; the ">" of quoted text before it
_BOX = r"(?:\[[ xX✓]?\]\s{1,100})?"
_MARK = re.compile(
    r"\s{0,100}(?:>\s{0,100})?(?:"
    r"[\"'“]?[*_]{0,3}(?:\(?\d{1,3}[.):．）：、](?!\d)|\[\d{1,3}\][.:)]?|\d{1,2}\ufe0f?\u20e3|[🔟①-⑳❶-❿])[*_]{0,3}\s{0,100}"
    r"|(?:[-*+–—]|\(?(?:[A-Za-z]|[ivxIVX]{2,5})[.)]|#\d{1,3}[.:]?|\d{1,3}\s[-–—])\s{1,100}" + _BOX + r"|-(?=[^\W\d_])"
    r"|[•‣◦▪·●○■□➤➢►▶▸✓✔✅☑➔◆◇★☆⁃∙🔹🔸🔷🔶]\ufe0f?\s{0,100}" + _BOX + ")"
)
_QUOTED = re.compile(r"\s{0,100}>\s{1,100}")
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
    """Return a text without quotes around it and punctuation at its end, in whatever order they stand (`"apple",`)."""
    while (shorter := strip_quotes(strip_quotes(text).rstrip(punctuation))) != text:
        text = shorter
    return text
