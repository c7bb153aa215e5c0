"""Recognise openings, headings and closing remarks around a list."""

from __future__ import annotations

import re

__all__ = ["is_small_talk", "without_opening", "without_talk"]

_YES = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|alright|all right|great|got it|understood|"
    r"no problem|gladly|yes|thank you|thanks|hello|hi|hey)"
)
_OPENING = re.compile(
    rf"\s*{_YES}(?:(?: there)?\s*[!.:…]+|\s*,(?=\s*(?:here|i|let|these|the following)\b)|\s*,\s*so\b|\s+[-–—]+\s)\s*",
    re.IGNORECASE,
)
_REMARK = re.compile(
    "|".join(
        (
            rf"(?:{_YES}|enjoy|done|good luck|cheers|you're welcome)\s*[!.…]+$",
            r"here(?: are|'s| is| you go)\b",
            r"these (?:are|words|uses|nouns|ideas|ten|10)\b",
            r"the following\b",
            r"(?:[\w-]+ ){1,3}uses (?:for|of)\b",
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


_OPENED = re.compile(r"<(answer|final_?answer|final|output|result|response|words|uses|list)>", re.I)
_ITEM = re.compile(r"</?(?:ol|ul|li|br|p|div|tr|item|entry|word|use)(?:\s[^<>]{0,200})?\s?/?>", re.I)
_TYPE = re.compile(r"</?(?:b|i|u|em|strong|code|span|td|th|table)(?:\s[^<>]{0,200})?\s?/?>", re.I)
_TEX = re.compile(r"\\(?:boxed|text|textbf|textit|emph|mathrm|mathbf)\{([^{}]*)\}")
_CLOSING = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z])")
_SAYS_MORE = re.compile(r":\s*\w")
"""A colon followed by the list on the same line."""


def _last_tagged(text: str) -> str | None:
    """Return the stripped content of the last tagged part of an answer, or None.

    Takes linear time: a tag that is not closed after one position is not closed after a later one.
    """
    found, at = None, 0
    open_for_good: set[str] = set()
    while opened := _OPENED.search(text, at):
        at, tag = opened.end(), opened[1].lower()
        closed = None if tag in open_for_good else re.compile(f"</{tag}>", re.I).search(text, at)
        if closed is None:
            open_for_good.add(tag)
        else:
            found, at = text[at : closed.start()].strip(), closed.end()
    return found


def without_talk(text: str) -> str:
    """Return the content of an answer: the last part in tags such as `<answer>`, without openings and closing remarks.

    HTML list tags become line breaks; formatting tags and TeX commands around a text are removed.
    """
    tagged = _last_tagged(text)
    text = _TYPE.sub("", _ITEM.sub("\n", text if tagged is None else tagged))
    text = _TEX.sub(r"\1", _TEX.sub(r"\1", text))
    lines = without_opening(text).splitlines()
    for index, line in enumerate(lines):
        sentences = _CLOSING.split(line)
        while len(sentences) > 1 and is_small_talk(sentences[-1]) and not _SAYS_MORE.search(sentences[-1]):
            sentences.pop()
        lines[index] = line[: sum(map(len, sentences)) + len(sentences) - 1] if len(sentences) > 1 else sentences[0]
    return "\n".join(lines)


def without_opening(text: str) -> str:
    """Return a text without an opening such as `Sure!` or `Of course:`."""
    match = _OPENING.match(text)
    return text[match.end() :] if match else text


def is_small_talk(line: str) -> bool:
    """Return whether a line (with straight quotes) is about the list: an opening, a heading, a remark.

    A heading ends in a colon. A single word (`sure`) is not small talk.
    """
    stripped = line.strip().strip("*_#> ").rstrip()
    return stripped.endswith(":") or _REMARK.match(stripped) is not None
