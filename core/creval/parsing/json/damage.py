"""JSON that is closed too early: a bracket too many in its middle, so that what follows belongs to it as well."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from creval.parsing.json.found import Found
from creval.parsing.json.mending import UNSURE

__all__ = ["with_damage"]

_BRACKET = re.compile(r"[\[\]{}]")
_OPENING = {"]": "[", "}": "{"}
_BETWEEN = " \t\r\n,;"
_LINK = re.compile(r"""[ \t]*|\s*(?:[,;]\s*)?(?:["'“]?\w{1,64}["'”]?\s*:\s*)?|\s*[,;:]\s*""")
"""What stands between two parts of one value: nothing, a comma, the name of the second."""
_GOES_ON = re.compile(r"""\s*(?:[,;:]\s*["'“‘\w-]|["'“‘]|\w[^\s,"]{0,64}["”])""")
_QUOTES = "\"'”’"


def with_damage(text: str, found: Sequence[Found]) -> Sequence[Found]:
    """Return what was found, with one fault in place of values that belong together and were torn apart.

    The sign is a closing bracket that nothing opens, behind an item: `["a", "b"], "c"]`. One alone behind a whole value
    does no harm. In time proportional to the text.
    """
    whole: list[Found] = []
    starts = [*(each.start for each in found[1:]), len(text)]
    opened: Counter[str] = Counter()
    for each, limit in zip(found, starts, strict=False):  # of nothing there is no start
        whole.append(each)
        at = each.end
        for bracket in _brackets(text, at, limit):
            mark = text[bracket]
            if mark in "[{":
                opened[mark] += 1
            elif opened[_OPENING[mark]]:
                opened[_OPENING[mark]] -= 1
            else:
                _close(text, whole, at, bracket)
                at = bracket + 1
    return whole


def _brackets(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _BRACKET.finditer(text, start, end))


def _close(text: str, whole: list[Found], at: int, bracket: int) -> None:
    """Put a fault in place of what a closing bracket shows to be torn; `at` is where what it may close has ended."""
    between = text[at:bracket].rstrip(_BETWEEN)
    if not between:
        first = _first_linked(text, whole)
        if first < len(whole) - 1 or whole[-1].fault == UNSURE:
            whole[first:] = [Found(whole[first].start, bracket + 1, fault=UNSURE)]
    elif between[-1].isalnum() or between[-1] in _QUOTES:
        if _GOES_ON.match(between):
            first = _first_linked(text, whole)
            whole[first:] = [Found(whole[first].start, bracket + 1, fault=UNSURE)]
        elif quote := re.search(r"[\"“]", between):  # a list of its own that lacks its opening bracket
            whole.append(Found(at + quote.start(), bracket + 1, fault=UNSURE))


def _first_linked(text: str, whole: Sequence[Found]) -> int:
    """Return the number of the first of the values that hang together with the last one."""
    first = len(whole) - 1
    while first and _linked(text, whole[first - 1], whole[first]):
        first -= 1
    return first


def _linked(text: str, one: Found, two: Found) -> bool:
    between = re.sub(r"[\]}]", "", text[one.end : two.start])
    if not between.strip() and isinstance(one.value, list) and isinstance(two.value, dict):
        return True
    return _LINK.fullmatch(between) is not None and (bool(between.strip()) or "\n" not in between)
