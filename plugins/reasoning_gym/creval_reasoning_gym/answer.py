"""The parser `reasoning_gym`: the final answer in the forms that models give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from creval.plugin import Parsed
from creval.plugin.parsing import CUE, LINK, boxed_spans, without_unseen

__all__ = ["FinalAnswer"]

_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_MARKS = "*_` \t"
_COLON = re.compile(r"[:：=]")
_ENDS = re.compile(r"[.\s*_]+\Z")


class FinalAnswer:
    """Reads the last of the first kind of place that the text has: tags, a box, a fenced block, a cue, the whole text.

    Answers may have several lines (grids, moves), so that a text without any of these places is the answer as a whole.
    White space at both ends is taken off; nothing inside is changed.
    """

    def parse(self, text: Any) -> Parsed:
        """Return the answer."""
        shown = without_unseen(str(text)).strip()
        for route, found in _places(shown):
            if found.strip():
                return Parsed(found.strip(), route=f"reasoning_gym/{route}")
        return Parsed.failure("there is no answer", "reasoning_gym")


def _places(text: str) -> Iterator[tuple[str, str]]:
    tags = _TAG.findall(text)
    if tags:
        yield "tag", _unfenced(tags[-1])
        return
    boxes = boxed_spans(text)
    if boxes:
        _, end, content = boxes[-1]
        yield "boxed", _plain(text[content : end - 1])
    blocks = _FENCE.findall(text)
    if blocks:
        yield "fenced", blocks[-1][1]
    cued = _after_cue(text)
    if cued is not None:
        yield "cue", cued
    yield "whole", text


def _unfenced(text: str) -> str:
    """Return what is in the fenced block or box that an answer in tags consists of."""
    inner = text.strip()
    block = _FENCE.fullmatch(inner)
    if block:
        return str(block[2])
    boxes = boxed_spans(inner)
    if len(boxes) == 1 and boxes[0][:2] == (0, len(inner)):
        return _plain(inner[boxes[0][2] : -1])
    return text


def _plain(text: str) -> str:
    """Take off `\\text{}` around a whole box."""
    found = re.fullmatch(r"\s*\\(?:text|mathrm|texttt)\{([^{}]*)\}\s*", text)
    return found[1] if found else text


def _after_cue(text: str) -> str | None:
    """Return what follows the last `the answer is` or `Answer:` to the end of the text, where it is linked to it."""
    for cue in reversed(list(CUE.finditer(text))):
        link = LINK.match(text, _skipped(text, cue.end()))
        if link is None:
            continue
        colon = _COLON.match(text, _skipped(text, link.end()))  # `is:`
        found = text[(link if colon is None else colon).end() :]
        if "\n" not in found.strip():
            found = _ENDS.sub("", found) if not found.rstrip().endswith("...") else found
            return found.strip(_MARKS)
        return found
    return None


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _MARKS:
        at += 1
    return at
