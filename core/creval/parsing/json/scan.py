"""Finding JSON values in the text of an answer, in bounded time.

Models wrap JSON in prose and code fences, nest it, and write several drafts. The JSON decoder tries every opening
bracket; the work of failed tries is added up, and the search ends when it exceeds a small multiple of the text's
length. So hostile input takes time proportional to its length.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from creval.lazy_pattern import lazy_pattern
from creval.parsing.json.repair import UNSURE, Effort, UnreadableError, begins_json, repair

__all__ = ["Found", "holds_json", "json_places", "scan"]

_WORK_PER_CHARACTER = 4
_FREE_WORK = 100_000
_WORK_PER_TRY = 200
_LINE_COUNT_SPEED = 32  # a JSONDecodeError counts the line breaks before it, this much faster than decoding
_MAX_DEPTH = 50
_TOO_DEEP = "the JSON in the answer is nested too deep"
_LONGEST_HEADING = 400
_OPENING = lazy_pattern(r"[\[{]")
_BARE_PAIR = lazy_pattern(r"""\\?["'“‘]\w{1,64}\\?["'”’]\s{0,9}:\s{0,9}(?:\\?["'“‘]|[\[{])|[\[{,]\s{0,9}\\["']\w""")
"""A name and its text in quotes: the remains of JSON without brackets, or with all quotes escaped."""
_BRACKET = lazy_pattern(r"[\[\]{}]")
_OPENER = {"]": "[", "}": "{"}
_BETWEEN = " \t\r\n,;"
_LINK = lazy_pattern(r"""[ \t]*|\s*(?:[,;]\s*)?(?:["'“]?\w{1,64}["'”]?\s*:\s*)?|\s*[,;:]\s*""")
"""The text between two parts of one value: nothing, a comma, the name of the second."""
_CONTINUES = lazy_pattern(r"""\s*(?:[,;:]\s*["'“‘\w-]|["'“‘]|\w[^\s,"]{0,64}["”])""")
_QUOTES = "\"'”’"


@dataclass(frozen=True, slots=True)
class Found:
    """JSON from `start` up to `end` of the searched part of the text.

    `value` is an array or object, `repaired` whether it was faulty. If it cannot be read, there is a reason in `fault`
    and no value. `heading` is the last line before it.
    """

    start: int
    end: int
    value: Any = None
    repaired: bool = False
    fault: str | None = None
    heading: str = ""


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def scan(text: str) -> Sequence[Found]:
    """Return the outermost JSON arrays and objects of a text, in order.

    Faulty ones are repaired if it is certain what was meant. The search ends at one that is never closed, as the rest
    may be inside it.
    """
    found = []
    work = _WORK_PER_CHARACTER * len(text) + _FREE_WORK
    effort = Effort()
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        at = opening.start()
        if work <= 0:
            found.append(Found(at, len(text), fault="the answer holds too many brackets that are not JSON"))
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            work -= _WORK_PER_TRY + error.pos - at + error.pos // _LINE_COUNT_SPEED
        except ValueError:  # a number that is too large, or NaN; its position is not reported
            work -= len(text) - at
        except RecursionError:
            found.append(Found(at, len(text), fault=_TOO_DEEP))
            break
        else:
            found.append(_shallow(Found(at, end, value)))
            at = end
            continue
        if not begins_json(text, at):
            at += 1
            continue
        found.append(_repaired(text, at, effort))
        at = found[-1].end
    return _with_damage(text, found)


def _repaired(text: str, at: int, effort: Effort) -> Found:
    try:
        value, end = repair(text, at, effort)
    except UnreadableError as error:
        return Found(at, len(text) if error.end is None else error.end, fault=error.reason)
    return _shallow(Found(at, end, value, repaired=True))


def _shallow(found: Found) -> Found:
    """Return it unchanged, or with a fault if it is nested deeper than any answer."""
    level = [found.value]
    for _ in range(_MAX_DEPTH):
        level = [inner for node in level for inner in _inside(node) if isinstance(inner, list | dict)]
        if not level:
            return found
    return Found(found.start, found.end, fault=_TOO_DEEP)


def _inside(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def json_places(text: str) -> Iterator[tuple[str, Sequence[Found]]]:
    """Yield the places of an answer that may contain JSON, in order, with the JSON found there.

    They are the whole answer (named ""; then there is no other place), code fences (`fenced`; an unclosed last fence
    extends to the end), the text (`embedded`).
    """
    stripped = text.strip()
    found = scan(stripped)
    if len(found) == 1 and found[0].start == 0 and found[0].end == len(stripped) and not found[0].fault:
        yield "", found
        return
    pieces = text.split("```")
    fences = zip(pieces[::2], pieces[1::2], strict=False)
    yield "fenced", [each for prose, fence in fences for each in _headed(fence, scan(fence), prose or " ")]
    yield "embedded", _headed(stripped, found)


def _headed(text: str, found: Sequence[Found], prose: str = "") -> Sequence[Found]:
    """Give each value the last line before it, after the previous value; `prose` precedes the text."""
    headed, at = [], text.find("\n") + 1 if prose else 0  # the first line of a fence names the language
    for each in found:
        before = f"{prose[-_LONGEST_HEADING:]}\n{text[max(at, each.start - _LONGEST_HEADING) : each.start]}".rstrip()
        headed.append(replace(each, heading=before.rpartition("\n")[2]))
        at, prose = each.end, ""
    return headed


def holds_json(text: str) -> bool:
    """Whether a text contains JSON, valid or faulty, with a text, an object or a null in it, or pairs without brackets.

    Such an answer is never read as lines or as words between commas. `[1]` is a reference, not such JSON.
    """
    return _BARE_PAIR.search(text) is not None or any(
        each.fault is not None or _has_text(each.value) for each in scan(text)
    )


def _has_text(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_text(member) for member in value)
    return value is None or isinstance(value, str) or (isinstance(value, dict) and bool(value))


# --- JSON that is closed too early: a bracket too many in its middle, so that what follows belongs to it as well ---


def _with_damage(text: str, found: Sequence[Found]) -> Sequence[Found]:
    """Return the values found, with one fault in place of values that belong together but were torn apart.

    The sign is a closing bracket without an opening one, after an item: `["a", "b"], "c"]`. Alone after a complete
    value it is harmless. Takes time proportional to the text.
    """
    values: list[Found] = []
    starts = [*(each.start for each in found[1:]), len(text)]
    open_brackets: Counter[str] = Counter()
    for each, limit in zip(found, starts, strict=False):  # an empty list has no start
        values.append(each)
        at = each.end
        for bracket in _brackets(text, at, limit):
            mark = text[bracket]
            if mark in "[{":
                open_brackets[mark] += 1
            elif open_brackets[_OPENER[mark]]:
                open_brackets[_OPENER[mark]] -= 1
            else:
                _close(text, values, at, bracket)
                at = bracket + 1
    return values


def _brackets(text: str, start: int, end: int) -> Iterator[int]:
    return (match.start() for match in _BRACKET.finditer(text, start, end))


def _close(text: str, values: list[Found], at: int, bracket: int) -> None:
    """Put a fault in place of values that a closing bracket shows to be torn; `at` is the end of what it may close."""
    between = text[at:bracket].rstrip(_BETWEEN)
    if not between:
        first = _first_linked(text, values)
        if first < len(values) - 1 or values[-1].fault == UNSURE:
            values[first:] = [Found(values[first].start, bracket + 1, fault=UNSURE)]
    elif between[-1].isalnum() or between[-1] in _QUOTES:
        if _CONTINUES.match(between):
            first = _first_linked(text, values)
            values[first:] = [Found(values[first].start, bracket + 1, fault=UNSURE)]
        elif quote := re.search(r"[\"“]", between):  # a separate list without its opening bracket
            values.append(Found(at + quote.start(), bracket + 1, fault=UNSURE))


def _first_linked(text: str, values: Sequence[Found]) -> int:
    """Return the index of the first of the values that are linked to the last one."""
    first = len(values) - 1
    while first and _linked(text, values[first - 1], values[first]):
        first -= 1
    return first


def _linked(text: str, first: Found, second: Found) -> bool:
    between = re.sub(r"[\]}]", "", text[first.end : second.start])
    if not between.strip() and isinstance(first.value, list) and isinstance(second.value, dict):
        return True
    return _LINK.fullmatch(between) is not None and (bool(between.strip()) or "\n" not in between)
