"""Finding JSON values in the text of an answer, in bounded time.

Models wrap JSON in prose and code fences, nest it, and write several drafts. Every opening bracket is tried with the
real JSON decoder; the work of failing tries is added up, and the search ends when it exceeds a small multiple of the
text's length. Hostile input therefore costs time proportional to its length.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from creval.parsing.json.damage import with_damage
from creval.parsing.json.found import Found
from creval.parsing.json.mending import Effort, UnreadableError, begins_json, mend

__all__ = ["holds_json", "json_places", "scan"]

_WORK_PER_CHARACTER = 4
_FREE_WORK = 100_000
_WORK_PER_TRY = 200
_LINE_COUNT_SPEED = 32  # a JSONDecodeError counts the line breaks before it, this much faster than decoding
_MAX_DEPTH = 50
_TOO_DEEP = "the JSON in the answer is nested too deep"
_LONGEST_HEADING = 400
_OPENING = re.compile(r"[\[{]")
_BARE_PAIR = re.compile(r"""\\?["'“‘]\w{1,64}\\?["'”’]\s{0,9}:\s{0,9}(?:\\?["'“‘]|[\[{])|[\[{,]\s{0,9}\\["']\w""")
"""A name and its text in quotes: what is left of JSON without its brackets, or with all its quotes escaped."""


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def scan(text: str) -> Sequence[Found]:
    """Return the JSON arrays and objects of a text, outermost ones only, in order.

    Faulty ones are mended where it is certain what was meant. After one that is never closed nothing more is looked
    for: what follows may stand inside it.
    """
    found = []
    work = _WORK_PER_CHARACTER * len(text) + _FREE_WORK
    effort = Effort()
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        at = opening.start()
        if work <= 0:
            found.append(Found(at, len(text), fault="the answer holds too many brackets that are no JSON"))
            break
        try:
            value, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            work -= _WORK_PER_TRY + error.pos - at + error.pos // _LINE_COUNT_SPEED
        except ValueError:  # a number that is too large, or NaN: where it stood is not told
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
        found.append(_mended(text, at, effort))
        at = found[-1].end
    return with_damage(text, found)


def _mended(text: str, at: int, effort: Effort) -> Found:
    try:
        value, end = mend(text, at, effort)
    except UnreadableError as error:
        return Found(at, len(text) if error.end is None else error.end, fault=error.reason)
    return _shallow(Found(at, end, value, mended=True))


def _shallow(found: Found) -> Found:
    """Return it as it is, or with a fault where it is nested deeper than any answer is."""
    level = [found.value]
    for _ in range(_MAX_DEPTH):
        level = [inner for node in level for inner in _inside(node) if isinstance(inner, list | dict)]
        if not level:
            return found
    return Found(found.start, found.end, fault=_TOO_DEEP)


def _inside(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def json_places(text: str) -> Iterator[tuple[str, Sequence[Found]]]:
    """Yield the places of an answer where JSON is looked for, in order, with what stands there.

    They are the whole answer (named ""; then there is no other place), code fences (`fenced`; an unclosed last fence
    reaches to the end), the text (`embedded`).
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
    """Give each value the last line of what stands between it and the one before it; `prose` precedes the text."""
    headed, at = [], text.find("\n") + 1 if prose else 0  # the first line of a fence names the language
    for each in found:
        before = f"{prose[-_LONGEST_HEADING:]}\n{text[max(at, each.start - _LONGEST_HEADING) : each.start]}".rstrip()
        headed.append(replace(each, heading=before.rpartition("\n")[2]))
        at, prose = each.end, ""
    return headed


def holds_json(text: str) -> bool:
    """Whether a text holds JSON, sound or faulty, with a text, an object or a null in it, or pairs without brackets.

    Such an answer is never read as lines or as words between commas. `[1]` is a reference, and no such JSON.
    """
    return _BARE_PAIR.search(text) is not None or any(
        each.fault is not None or _has_text(each.value) for each in scan(text)
    )


def _has_text(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_text(member) for member in value)
    return value is None or isinstance(value, str) or (isinstance(value, dict) and bool(value))
