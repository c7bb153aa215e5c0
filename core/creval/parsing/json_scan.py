"""Finding JSON values in the text of an answer, in bounded time.

Models wrap JSON in prose and code fences, nest it, and write several drafts. Every opening bracket is tried
with the real JSON decoder; the work of failing tries is added up, and the search ends when it exceeds a small
multiple of the text's length. Hostile input therefore costs time proportional to its length.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Found", "decode_whole", "fenced_parts", "find_json", "find_quoted_lists", "nested_lists"]

_WORK_PER_CHARACTER = 4
_FREE_WORK = 100_000
_WORK_PER_TRY = 200
_QUOTED_WORK = 10  # reading quoted items here costs so much more than the decoder's reading of a character
_LINE_COUNT_SPEED = 32  # a JSONDecodeError counts the line breaks before it, this much faster than decoding
_ITEM_CHARACTERS = 1_000
_SPACE_CHARACTERS = 200
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}


@dataclass(frozen=True, slots=True)
class Found:
    """A value that stands at `start` (in the part of the text that was searched)."""

    value: Any
    start: int


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def decode_whole(text: str) -> Any | None:
    """Return the array or object that the whole text is, or None."""
    if not text.startswith(("[", "{")):
        return None
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if not text[end:].strip() else None


def fenced_parts(text: str) -> list[str]:
    """Return what stands inside ``` fences, in order; an unclosed last fence reaches to the end."""
    pieces = text.split("```")
    return [piece for index, piece in enumerate(pieces) if index % 2]


def find_json(text: str, opening: str) -> Iterator[Found]:
    """Yield the JSON arrays (`opening` "[") or objects ("{") of a text, outermost ones only, in order."""
    work = _WORK_PER_CHARACTER * len(text) + _FREE_WORK
    at = text.find(opening)
    while at >= 0 and work > 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            work -= _WORK_PER_TRY + error.pos - at + error.pos // _LINE_COUNT_SPEED
            at = text.find(opening, at + 1)
        except ValueError:  # a number that is too large, or NaN: where it stood is not told
            work -= len(text) - at
            at = text.find(opening, at + 1)
        except RecursionError:  # nested deeper than any answer is
            return
        else:
            yield Found(value, at)
            at = text.find(opening, end)


def find_quoted_lists(text: str) -> Iterator[Found]:
    """Yield flat lists of quoted strings that are not JSON: single or typographic quotes, a trailing comma.

    A quote closes a string only before a comma or the closing bracket, so that `['don't', 'o'clock']` has two
    items.
    """
    work = _WORK_PER_CHARACTER * len(text) + _FREE_WORK
    at = text.find("[")
    while at >= 0 and work > 0:
        items, end = _quoted_list(text, at + 1)
        work -= _WORK_PER_TRY + _QUOTED_WORK * (end - at)
        if items:
            yield Found(items, at)
            at = text.find("[", end)
        else:
            at = text.find("[", at + 1)


def _quoted_list(text: str, at: int) -> tuple[list[str] | None, int]:
    """Read items up to the closing bracket; return them, or None, and where the reading ended."""
    items: list[str] = []
    while True:
        at = _skip_space(text, at)
        if text[at : at + 1] == "]":
            return items, at + 1
        closing = _QUOTES.get(text[at : at + 1])
        if closing is None:
            return None, at
        item, at = _quoted_item(text, at + 1, closing)
        if item is None:
            return None, at
        items.append(item)
        if text[at : at + 1] == ",":
            at += 1


def _quoted_item(text: str, start: int, closing: str) -> tuple[str | None, int]:
    """Read up to a closing quote that a comma or bracket follows; return the item and the place after the quote."""
    limit = min(len(text), start + _ITEM_CHARACTERS)
    line_end = text.find("\n", start, limit)
    limit = line_end if line_end >= 0 else limit
    at = text.find(closing, start, limit)
    while at >= 0:
        after = _skip_space(text, at + 1)
        if text[after : after + 1] in {",", "]"}:
            return text[start:at], after
        at = text.find(closing, at + 1, limit)
    return None, limit


def _skip_space(text: str, at: int) -> int:
    limit = at + _SPACE_CHARACTERS
    while at < limit and text[at : at + 1].isspace():
        at += 1
    return at


def nested_lists(value: Any) -> Iterator[list[Any]]:
    """Yield every list inside a decoded value, outer ones before inner ones."""
    queue = deque([value])
    while queue:
        node = queue.popleft()
        if isinstance(node, list):
            yield node
            queue.extend(item for item in node if isinstance(item, list | dict))
        elif isinstance(node, dict):
            queue.extend(item for item in node.values() if isinstance(item, list | dict))
