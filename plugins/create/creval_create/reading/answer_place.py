"""Find the answer in a reply."""

from __future__ import annotations

import bisect
import re

__all__ = ["answer_part"]

_THOUGHT = re.compile(r"<\s*/\s*(?:think|thinking|reason|reasoning)\s*>", re.IGNORECASE)
_OPEN = re.compile(r"<\s*answer\s*>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s*/\s*answer\s*>", re.IGNORECASE)
_BRACKET = re.compile(r"[\[({]")


def answer_part(text: str) -> tuple[str, str]:
    """Return the part of a reply that contains the answer, and the mark by which it was found.

    Reasoning before the last closing think tag is skipped. Then, in order: the last part inside answer tags that
    contains a bracket (`tagged`; an unclosed tag extends to the end, `tag_open`; an unopened one, to the
    beginning); the last code fence that contains one (`fenced`); the whole text (`plain`).
    """
    after = text[max((found.end() for found in _THOUGHT.finditer(text)), default=0) :]
    said = after if after.strip() else text
    for part, route in reversed(_tagged(said)):
        if _BRACKET.search(part):
            return part, route
    pieces = said.split("```")
    for piece in reversed(pieces[1::2]):
        if _BRACKET.search(piece):
            return piece, "fenced"
    return said, "plain"


def _tagged(text: str) -> list[tuple[str, str]]:
    closings = [found.start() for found in _CLOSE.finditer(text)]
    openings = list(_OPEN.finditer(text))
    if not openings:
        return [(text[: closings[-1]], "tag_closed")] if closings else []
    parts = []
    for opening, following in zip(openings, [*openings[1:], None], strict=True):
        limit = following.start() if following else len(text)
        place = bisect.bisect_left(closings, opening.end())
        closed = place < len(closings) and closings[place] <= limit
        end = closings[place] if closed else limit
        parts.append((text[opening.end() : end], "tagged" if closed else "tag_open"))
    return parts
