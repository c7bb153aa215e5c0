"""Find the expressions in an answer, and read plain numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from creval.plugin.judging import boxed_spans, number_of, number_text, read_numeral

__all__ = ["expressions", "plain_number"]

_CUE = re.compile(
    r"(?:\b(?:answer|result|solution)\b[^\n.:=$\\]{0,30}?(?:\bis\b|:|=)|####|答案[是为為：:])[ \t*_]*", re.IGNORECASE
)
_BETWEEN = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_LONGEST = 2_000
_SIGNS_OF_NUMBERS = re.compile(r"[-+−\d\s.,:/'’_%$€£¥₹\\!;{}]*")
_END = " \t\r\n.,;:!?*_`"
_MOST = 200


def expressions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield, place by place, the expressions of an answer in its order, with the route of each place."""
    boxed = [text[content : end - 1] for _, end, content in boxed_spans(text)]
    if boxed:
        yield "math/boxed", boxed
        return
    said = [part for cue in list(_CUE.finditer(text))[-_MOST:] if (part := _after(text, cue.end()))]
    if said:
        yield "math/cue", said
        return
    between = [next(filter(None, found.groups())) for found in list(_BETWEEN.finditer(text[-100_000:]))[-_MOST:]]
    if between:
        yield "math", between
        return
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if lines and len(lines[-1]) <= _LONGEST and re.search(r"[\d\\=^]", lines[-1]):
        yield "math/line", [lines[-1].strip(_END)]


def _after(text: str, at: int) -> str:
    """Return text after words that announce an answer: between dollar signs if marked, else the rest of its line."""
    rest = text[at : at + _LONGEST].lstrip(" \t*_\n").split("\n", 1)[0]
    marked = _BETWEEN.match(rest)
    found = next(filter(None, marked.groups())) if marked else rest.strip(_END)
    return found if re.search(r"[\d\\=^]|^[A-Za-z]$", found) else ""


def plain_number(expression: str) -> str | None:
    """Return a number in its shortest decimal form, or None if the expression is more than a number.

    Raises ValueError if it consists only of digits and signs, but is not a valid number.
    """
    try:
        return number_text(number_of(read_numeral(expression).value))
    except ValueError:
        if _SIGNS_OF_NUMBERS.fullmatch(expression):
            raise
        return None
