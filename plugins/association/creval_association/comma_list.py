"""Lists on one or a few lines: words separated by commas or other signs used as commas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from creval_association.small_talk import is_small_talk

__all__ = ["comma_lists", "with_commas"]

_BREAK = re.compile(r",\s*\n\s*|\n[ \t]*,\s*")
_INSTEAD = re.compile(r";|\s[|/•·]\s|\s?(?:->|=>|→|⇒)\s?")
_DASHES = re.compile(r"\s[-–—]\s")
_SHORT = 2  # words; a longer item is prose, or begins with prose
_MOSTLY = 0.7  # share of short items in a list
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_LEAD = re.compile(r"(?:.*[.!?:]\s+)?(?:(?:my|the|these|your|here)\s[^,:]{0,60}?\b(?:are|is|be)\b:?\s+)?(?=\S)", re.I)
_PAIR = re.compile(r"(\w[\w'-]*) (?:and|or|&) (\w[\w'-]*)[.!]?")


class CommaList(NamedTuple):
    """The items of a comma-separated list, verbatim, and its heading."""

    heading: str
    items: list[str]
    at: int


def with_commas(line: str) -> str:
    """Return a line with its separators replaced by commas (two or more of one other sign, no comma)."""
    if "," in line or line.lstrip().startswith("|"):
        return line
    signs = [match[0].strip() for match in _INSTEAD.finditer(line)]
    if len(signs) >= 2 and len(set(signs)) == 1:
        return _INSTEAD.sub(", ", line)
    if len(_DASHES.findall(line)) >= 3:
        return _DASHES.sub(", ", line)
    return line


def comma_lists(text: str, clean: Callable[[str], str]) -> list[CommaList]:
    """Return the lists whose items are mostly of one or two words, in order.

    If some lists have no longer items, returns only those. Consecutive lines without a heading are one list, broken at
    the ends of lines.
    """
    found: list[CommaList] = []
    pure: list[CommaList] = []
    for at, line in enumerate(map(with_commas, _BREAK.sub(", ", text).splitlines())):
        continues = bool(found) and found[-1].at == at - 1
        if line.count(",") < (1 if continues else 2) or (":" not in line and is_small_talk(line)):
            continue
        heading, items = _read(line)
        long = [item for item in items if len(clean(item).split()) > _SHORT]
        if len(items) - len(long) < _MOSTLY * len(items) or (continues and line.count(",") < 2 and long):
            continue
        found.append(CommaList(heading, items, at))
        pure += [found[-1]] * (not long)
    return _joined(pure or found)


def _joined(lists: Sequence[CommaList]) -> list[CommaList]:
    joined: list[CommaList] = []
    at = -1
    for each in lists:
        if joined and each.at == at + 1 and not each.heading:
            joined[-1].items.extend(each.items)
        else:
            joined.append(each._replace(items=list(each.items)))
        at = each.at
    return joined


def _read(line: str) -> tuple[str, list[str]]:
    """Return the heading of a line (the text before its colon) and its items."""
    head, colon, tail = line.partition(":")
    head = _SENTENCE.split(head)[-1]
    heading = head.strip() if colon and "," not in head else ""
    first, *rest = (tail if heading else line).strip("[](){} ").split(",")
    items = [_LEAD.sub("", first.strip(), count=1), *(re.sub(r"^(?:and|or)\s+", "", part.strip()) for part in rest)]
    pair = _PAIR.fullmatch(items[-1].strip())
    return heading, [*items[:-1], pair[1], pair[2]] if pair else items
