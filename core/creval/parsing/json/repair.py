"""Repairs faulty JSON: finds where it ends, and what was meant.

Models make mistakes in JSON: a comma too many or too few, unescaped quotes or line breaks inside a text, single or
typographic quotes. The library json-repair reads such JSON. It also accepts text that is not JSON, and invents the rest
of JSON that was cut, so it only gets a part that begins and ends like JSON, and its result is refused unless it has
exactly the letters and digits of the part, in order.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from creval.lazy_pattern import lazy_pattern

__all__ = ["CUT", "MAX_REPAIRED", "TOO_LONG", "UNSURE", "Effort", "UnreadableError", "begins_json", "repair"]

MAX_REPAIRED = 50_000
"""Maximum length of faulty JSON that is repaired, in characters."""
MAX_READS = 400_000
"""The most character reads of the library in one answer; a small fault takes about 3 per character."""
CUT = "the JSON in the answer is never closed"
TOO_LONG = "the JSON in the answer is faulty and too long to be repaired"
UNSURE = "the JSON in the answer is faulty, and what was meant is not certain"

_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "`": "'"})
_CURLY_QUOTES = frozenset("“„‘`")
_FIRST = lazy_pattern(r"[\[{\s,]{1,200}(.)")
_BEGIN = lazy_pattern(
    r"""[\[{][\[{\s,]{0,64}+(?:               # one bracket or several, then
    ["'“‘„`]                                   # the quote of a text
    |(?<=[{\s])[A-Za-z_]\w{0,63}\s{0,9}:       # or a name without quotes
    |(?:-?\d{1,400}(?:\.\d{1,400})?|true|false|null|True|False|None)\s{0,9}[,\]]  # or an item of another kind
    )""",
    re.VERBOSE,
)
_MARK = lazy_pattern(r"""[\[\]{}"']""")
_OPENS_SINGLE = lazy_pattern(r"[\[{,:]\s{0,200}$")
_ENDS_TEXT = lazy_pattern(
    r"""\s{0,200}(?:$|[\]}:\[{…]|\.\.|["'](?!\s{0,200}[,\]}:])  # what follows a text,
    |,\s{0,200}(?:$|["'\[{\]}\d….-]                     # or a comma and what follows that
    |(?:true|false|null|True|False|None)\b|[A-Za-z_]\w{0,63}\s{0,9}:))""",
    re.VERBOSE,
)
_SWALLOWED = lazy_pattern(
    r"""["'”’]\s*(?:[\]}:]|[,;]\s*["'“‘])|[\[{]\s*["'“‘]|[\]}]\s*,\s*[\[{"']|[\[{]\s*$|["”]\W{0,9}["“]"""
)
_NO_ITEM = lazy_pattern(r"""[\s,:;"'`“”‘’\[\]{}()\\]+""")
"""A text of marks alone: not an item, but marks that the library mistook for one."""
_APART = lazy_pattern(r"""[,:;\[\]{}\n]|["'“”‘’][^"'“”‘’]*["'“”‘’]""")
"""The separator of two texts: a sign, or the end of one and the beginning of the other."""
_INCHES = lazy_pattern(r"""(?:[^"]|(?<=[^\s,:\[{"])"(?!\s*[,:;\]}"]))*""")
"""A text whose double quotes all follow a word or number and precede another word."""
_ESCAPE = lazy_pattern(r"\\(?:u([0-9a-fA-F]{4})|([bfnrt])|(.))", re.DOTALL)
_NUMBER = lazy_pattern(r"\d[\d.]*(?:[eE][-+]?\d+)?")
_MINUS = lazy_pattern(r"[-−–﹣－]\s?[$€£¥]?\s?$")
_LENIENT = json.JSONDecoder(strict=False)  # line breaks inside texts
_CLOSING = {"]": "[", "}": "{"}


class UnreadableError(ValueError):
    """Faulty JSON that is not repaired: the `reason`, and the position after it if known (`end`)."""

    def __init__(self, reason: str, end: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.end = end


class Effort:
    """The character reads that the library has left: for some texts its time grows with the cube of their length."""

    def __init__(self, reads: int = MAX_READS) -> None:
        self.left = reads

    def spend(self, reads: int = 1) -> None:
        """Count reads. Raises UnreadableError if there are none left."""
        self.left -= reads
        if self.left < 0:
            raise UnreadableError(TOO_LONG)


class _Counted(str):
    """A text that counts the reads of its single characters."""

    effort: Effort

    @classmethod
    def of(cls, text: str, effort: Effort) -> _Counted:
        counted = cls(text)
        counted.effort = effort
        return counted

    def __getitem__(self, place: Any) -> str:
        self.effort.spend()
        found = super().__getitem__(place)
        return found if isinstance(place, int) else _Counted.of(found, self.effort)

    def __add__(self, other: str) -> str:
        return _Counted.of(super().__add__(other), self.effort)

    def __radd__(self, other: str) -> str:
        return _Counted.of(other + str(self), self.effort)


def begins_json(text: str, at: int) -> bool:
    """Whether the bracket at `at` opens JSON, not a remark: a text, a name or a number as an item follows.

    Words without quotes in brackets (`[ocean, justice]`, `[see note 1]`) are not JSON.
    """
    return _BEGIN.match(text, at) is not None


def repair(text: str, at: int, effort: Effort) -> tuple[Any, int]:
    """Return (the array or object meant by the faulty JSON at `at`, the position after it).

    Raises UnreadableError if it is never closed or too long (the position after it is then unknown), or if it is
    uncertain what was meant.
    """
    json_text = text[at : at + MAX_REPAIRED]
    first = _FIRST.match(json_text)
    if first is not None and first.group(1) in _CURLY_QUOTES:
        json_text = json_text.translate(_CURLY)
    length, quoted = _closing(json_text)
    if length is None:
        raise UnreadableError(TOO_LONG if len(text) - at > MAX_REPAIRED else CUT)
    json_text = _in_double_quotes(json_text[:length], quoted)
    try:
        value = _decode(json_text, effort)
    except UnreadableError as error:
        raise UnreadableError(error.reason, at + length) from None
    if value is None or not _is_certain(json_text, value):
        raise UnreadableError(UNSURE, at + length)
    return value, at + length


def _closing(text: str) -> tuple[int | None, Sequence[tuple[int, int]]]:
    """Return (the position after the bracket that closes the first one, or None; the spans of the texts in quotes).

    A quote ends a text only if the next characters may follow a text, so quotes inside a text are harmless. A closing
    outer bracket also closes the inner ones.
    """
    stack: list[str] = []
    quoted: list[tuple[int, int]] = []
    quote, start = "", 0
    for match in _MARK.finditer(text):
        mark, at = match.group(), match.start()
        if quote:
            if mark == quote and not _escaped(text, at) and _ENDS_TEXT.match(text, at + 1):
                quote = ""
                quoted.append((start, at))
        elif mark == '"' or (mark == "'" and _OPENS_SINGLE.search(text, max(0, at - 201), at)):
            quote, start = mark, at
        elif mark in "[{":
            stack.append(mark)
        elif mark in _CLOSING and _CLOSING[mark] in stack:
            while stack.pop() != _CLOSING[mark]:
                pass
            if not stack:
                return at + 1, quoted
    return None, quoted


def _in_double_quotes(text: str, quoted: Sequence[tuple[int, int]]) -> str:
    """Rewrite texts in single quotes, and those with a mark of inches (`10" tall`), in JSON's double quotes.

    Nothing inside can then end the text.
    """
    pieces, copied_to = [], 0
    for start, end in quoted:
        inside = text[start + 1 : end]
        if text[start] == "'":
            inside = re.sub(r"\\'", "'", inside)
        elif not _INCHES.fullmatch(inside):
            continue
        pieces += [text[copied_to:start], '"', re.sub(r'(?<!\\)"', r"\"", inside), '"']
        copied_to = end + 1
    return "".join([*pieces, text[copied_to:]])


def _escaped(text: str, at: int) -> bool:
    before = text[max(0, at - 50) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _decode(json_text: str, effort: Effort) -> Any | None:
    try:
        return _LENIENT.decode(json_text)
    except (ValueError, RecursionError):
        pass
    import json_repair

    try:
        value = json_repair.loads(_Counted.of(json_text, effort), skip_json_loads=True)
    except UnreadableError:
        raise
    except Exception:  # on models' texts the library may fail in any way
        return None
    return value if isinstance(value, list if json_text[0] == "[" else dict) else None


def _is_certain(part: str, value: Any) -> bool:
    """Whether the value has all letters and digits of the part, in order, and no text absorbed brackets or keys."""
    text = _ESCAPE.sub(_unescaped, part)
    leaves = list(_leaves(value))
    if sum(leaf == "" for leaf in leaves) > text.count('""'):
        return False  # a missing value is not an empty text
    at = 0
    for leaf in leaves:
        if isinstance(leaf, str):
            if _SWALLOWED.search(leaf) or _NO_ITEM.fullmatch(leaf):
                return False
            following = _skip_letters(text, at, leaf)
        elif isinstance(leaf, bool) or leaf is None:
            names = ("null", "None") if leaf is None else (str(leaf), str(leaf).lower())
            following = max(_skip_letters(text, at, name) or -1 for name in names)
        else:
            following = _skip_number(text, at, leaf)
        if following is None or following < 0:
            return False
        start = _next_letter(text, at)
        if 0 < at < start <= following and not _APART.search(text, at, start):
            return False  # the two halves of one text
        at = following
    return not any(character.isalnum() for character in text[at:])


def _next_letter(text: str, at: int) -> int:
    return next((place for place in range(at, len(text)) if text[place].isalnum()), len(text))


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return " " if match[2] else match[3]


def _leaves(value: Any) -> Iterator[Any]:
    """Yield keys and single values in the order of the text."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member)
    else:
        yield value


def _skip_letters(text: str, at: int, leaf: str) -> int | None:
    for character in filter(str.isalnum, leaf):
        while at < len(text) and not text[at].isalnum():
            at += 1
        if text[at : at + 1] != character:
            return None
        at += 1
    return at


def _skip_number(text: str, at: int, number: float) -> int | None:
    while at < len(text) and not text[at].isalnum():
        at += 1
    match = _NUMBER.match(text, at)
    negative = _MINUS.search(text[max(0, at - 4) : at]) is not None
    try:
        same = match is not None and math.isfinite(number) and float(match.group()) == abs(number)
        same = same and negative == (number < 0 or (negative and number == 0))
    except (ValueError, OverflowError):
        return None
    return match.end() if match is not None and same else None
