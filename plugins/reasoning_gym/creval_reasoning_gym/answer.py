"""The parser `reasoning_gym`: the final answer in the forms that models use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import CUE, LINK, boxed_spans, is_refusal, refused, without_unseen

__all__ = ["FinalAnswer"]

_CUT = r"</?(?:a(?:n(?:s(?:w(?:er?)?)?)?)?)?\Z"  # an incomplete closing tag
_TAG = re.compile(rf"<answer(?:\s[^<>]*)?>(.*?)(?:</answer>|{_CUT}|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^[#*_\s]*(?:final |correct )?answer[*_:：\s]*\n(?=\s*\S)", re.IGNORECASE | re.MULTILINE)
_PROSE = re.compile(r"(?:[^\W\d_]{2,}[,;:'’]?\s+){2}[^\W\d_]{2,}")
_MARKS = "*_` \t"
_COLON = re.compile(r"[:：=]")
_CLOSING = re.compile(r"(?:\*{1,3}|_{1,3}|`)(?=\s)")  # emphasis of the cue: `**Answer:** 42`
_ENDS = re.compile(r"[.。]+\Z")
_WRAPS = (
    re.compile(r"\*\*([^*\n]+)\*\*"),
    re.compile(r"`([^`\n]+)`"),
    re.compile(r"\$([^$\\/\n]+)\$"),  # not a fraction: there the dollar signs belong to the answer
    re.compile(r"\\\(([^\\/\n]+)\\\)"),
    re.compile(r"\\(?:text|mathrm|texttt)\{([^{}\n]*)\}"),
)


class FinalAnswer:
    """Reads the last place of the first kind that the text contains: tags, box, fenced block, cue, whole text.

    A cue after the last fenced block takes precedence over it. Answers may have several lines (grids, moves), so a text
    without any of these places is the answer as a whole, unless it declines. White space at both ends and emphasis
    around a one-line answer are removed; the inside is not changed.
    """

    def parse(self, text: Any) -> Parsed:
        """Return the answer."""
        shown = without_unseen(str(text)).strip()
        for route, found in _places(shown):
            if found.strip():
                return refused() if route == "whole" and is_refusal(shown) else _parsed(found, route)
        return Parsed.failure("there is no answer", "reasoning_gym")


def _parsed(found: str, route: str) -> Parsed:
    return Parsed(_bare(found.strip()), route=f"reasoning_gym/{route}")


def _places(text: str) -> Iterator[tuple[str, str]]:
    tags = _TAG.findall(text)
    if tags:
        yield "tag", _unfenced(tags[-1])
        return
    boxes = boxed_spans(text)
    if boxes:
        _, end, content = boxes[-1]
        yield "boxed", text[content : end - 1]
    blocks = list(_FENCE.finditer(text))
    cued = _after_cue(text, blocks[-1].end() if blocks else 0)
    if cued is not None:
        yield "cue", cued
    if blocks:
        yield "fenced", blocks[-1][2]
    yield "whole", text


def _unfenced(text: str) -> str:
    """Return the content of the fenced block or box if an answer in tags consists of one."""
    inner = text.strip()
    block = _FENCE.fullmatch(inner)
    if block:
        return str(block[2])
    boxes = boxed_spans(inner)
    if len(boxes) == 1 and boxes[0][:2] == (0, len(inner)):
        return inner[boxes[0][2] : -1]
    return text


def _bare(text: str) -> str:
    """Strip markup around a whole one-line answer: emphasis, code marks, dollars, `\\text{}`."""
    for _ in range(3):
        inner = next((found[1].strip() for wrap in _WRAPS if (found := wrap.fullmatch(text))), "")
        if not inner:
            break
        text = inner
    return text


def _after_cue(text: str, start: int) -> str | None:
    """Return the text after the last `the answer is` or `Answer:` from `start` on, if it is linked to it.

    A heading such as `**Final Answer**` announces the lines below it. Sentences in a separate paragraph after an
    answer that begins on the cue's line are not part of it.
    """
    for cue in reversed(list(CUE.finditer(text, start))):
        heading = _HEADING.match(text, text.rfind("\n", 0, cue.start()) + 1)
        if heading is not None and heading.end() > cue.end():
            return _first_paragraph(text[heading.end() :].strip())
        link = LINK.match(text, _skipped(text, cue.end()))
        if link is None:
            continue
        colon = _COLON.match(text, _skipped(text, link.end()))  # `is:`
        at = (link if colon is None else colon).end()
        closing = _CLOSING.match(text, at)
        found = _first_paragraph(text[(closing.end() if closing else at) :])
        if "\n" in found.strip():
            return found
        begun = text[: cue.start()].endswith("**") and "**" not in text[cue.start() : at] and closing is None
        line = _ENDS.sub("", found.strip())
        return _unmarked(line.removesuffix("**") if begun else line)
    return None


def _unmarked(text: str) -> str:
    """Return a line without its full stop and without emphasis that begins or ends outside it."""
    for _ in range(2):
        text = _ENDS.sub("", text) if not text.endswith("...") else text
        for mark in ("**", "__", "*", "`"):
            if text.count(mark) % 2:
                text = text.removeprefix(mark) if text.startswith(mark) else text.removesuffix(mark)
        text = text.strip()
    return text


def _first_paragraph(text: str) -> str:
    """Return the text before the first blank line if sentences follow it; else the whole text."""
    first, _, rest = text.partition("\n\n")
    return first if first.strip(_MARKS) and _PROSE.search(rest) else text


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _MARKS:
        at += 1
    return at
