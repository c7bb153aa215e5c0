"""Parse one value that is nearly JSON: other quotes, tuples, bare names, comments, missing commas between lists.

Nothing is guessed: a string ends only at a quotation mark before a comma, a colon or a closing bracket, and a value
with unpaired marks is rejected. The standard library parses everything that is strict JSON.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["Pairs", "UnreadableError", "read_value"]

_MOST_ITEMS = 200
_DEEPEST = 12
_LONGEST_NAME = 1_000

_CLOSING = {"[": "])}", "(": ")]", "{": "}"}
_MARKS = {'"': '"', "'": "'", "“": '”“"', "”": "”", "„": "“”", "‘": "’", "`": "`'", "«": "»"}
_ALL_MARKS = set('"“”„«»')
_SPACE = re.compile(r"\s*")
_COMMENTS = {"//": "\n", "/*": "*/"}
_LONGEST_COMMENT = 1_000
_PLAIN = re.compile(r"""(?:"([^"\\]{0,1000})"|'([^'\\]{0,1000})')(?=\s*[,:\])}])""")
_NAMES = (r'"([^"\\]{0,1000})"', r"'([^'\\]{0,1000})'")
_THREE = re.compile("|".join(rf"[\[(]\s*{name}\s*,\s*{name}\s*,\s*{name}\s*[\])]" for name in _NAMES))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_BROKEN_LIST = re.compile(r"[\])]\s*,\s*[\[(]")
_NOTHING = {"null", "none", "undefined"}


class UnreadableError(ValueError):
    """A value that can't be read without guessing; `at` is the position at which parsing ended."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class Pairs(list[tuple[str, Any]]):
    """An object as in the text: two equal keys are two pairs."""


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=str, parse_float=str, parse_constant=str)


def read_value(text: str, at: int) -> tuple[Any, int]:
    """Read the list, tuple or object that opens at `at`; return it and its end.

    Strings and numbers become `str`, null as None, lists and tuples as `list`, objects as `Pairs`. Raises
    UnreadableError.
    """
    if text[at] in "[{":
        try:
            return _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            pass  # parse it leniently
    return _value(text, at, 0)


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    opening = text[at : at + 1]
    if not opening:
        raise UnreadableError("breaks off", at)
    if opening in _CLOSING:
        if depth >= _DEEPEST:
            raise UnreadableError(f"more than {_DEEPEST} brackets inside each other", at)
        return _object(text, at, depth) if opening == "{" else _items(text, at, depth)
    if opening in _MARKS:
        return _string(text, at)
    return _bare(text, at)


def _items(text: str, start: int, depth: int) -> tuple[list[Any], int]:
    """Parse a list or tuple. A comma between two lists may be missing; a trailing comma is allowed."""
    plain = _THREE.match(text, start)
    if plain:  # a triple of plain names, by far the most frequent list
        return [name for name in plain.groups() if name is not None], plain.end()
    closing = _CLOSING[text[start]]
    items: list[Any] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] not in closing or at >= len(text):
        item, at = _value(text, at, depth + 1)
        items.append(item)
        if len(items) > _MOST_ITEMS:
            raise UnreadableError(f"more than {_MOST_ITEMS} items", at)
        at = _separated(text, at, closing, isinstance(item, list))
    return items, at + 1


def _separated(text: str, at: int, closing: str, lists: bool) -> int:
    """Skip the comma after an item; return the position of the next item, or of the closing bracket."""
    at = _skip(text, at)
    sign = text[at : at + 1]
    if sign == ",":
        return _skip(text, at + 1)
    if not sign:
        raise UnreadableError("breaks off", at)
    if sign in closing or (lists and sign in _CLOSING):
        return at
    raise UnreadableError(f"{sign!r} where a comma or {closing[0]!r} is expected", at)


def _object(text: str, start: int, depth: int) -> tuple[Pairs, int]:
    pairs = Pairs()
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if at >= len(text):
            raise UnreadableError("breaks off", at)
        key, at = _string(text, at) if text[at] in _MARKS else _bare_key(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise UnreadableError(f"no colon after {key[:40]!r}", at)
        value, at = _value(text, _skip(text, at + 1), depth + 1)
        pairs.append((key, value))
        if len(pairs) > _MOST_ITEMS:
            raise UnreadableError(f"more than {_MOST_ITEMS} items", at)
        at = _separated(text, at, "}", False)
    return pairs, at + 1


def _bare_key(text: str, at: int) -> tuple[str, int]:
    end = text.find(":", at, at + _LONGEST_NAME)
    if end < 0:
        raise UnreadableError("no colon after a key", at)
    return text[at:end].strip(), end


def _string(text: str, at: int) -> tuple[str, int]:
    """Parse a string in any quotation marks, with the marks inside it."""
    plain = _PLAIN.match(text, at)
    if plain:
        return plain[1] or plain[2] or "", plain.end()
    closing = _MARKS[text[at]]
    limit = min(len(text), at + 1 + _LONGEST_NAME)
    end, inside = at + 1, 0
    while end < limit:
        if text[end] == "\\":
            end += 2
            continue
        if text[end] in closing:
            after = _skip(text, end + 1)
            if text[after : after + 1] in set(",:])}"):
                return _checked(text[at + 1 : end], text[at], inside, at), end + 1
            if text[end] == text[at] or text[at] in "“„":
                inside += 1
        end += 1
    raise UnreadableError("breaks off in a name" if end >= len(text) else "a name without an end", at)


def _checked(name: str, mark: str, inside: int, at: int) -> str:
    """Reject a string that swallowed the end of another, or whose inner double marks are unpaired."""
    if inside and (_BROKEN_LIST.search(name) or (mark in _ALL_MARKS and inside % 2)):
        raise UnreadableError(f"the quotation marks of {name[:40]!r} do not pair", at)
    return _unescaped(name, at) if "\\" in name else name


def _unescaped(name: str, at: int) -> str:
    def replaced(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2] not in _ESCAPES:
            raise UnreadableError(f"unknown escape {found[0]!r}", at)
        return _ESCAPES[found[2]]

    plain = _ESCAPE.sub(replaced, name)
    try:  # two escapes may be the halves of one character
        return plain.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise UnreadableError("half a character in a name", at) from None


def _bare(text: str, at: int) -> tuple[str | None, int]:
    """Parse a name or number without quotation marks: up to a comma or bracket, including paired brackets."""
    end, depth = at, 0
    limit = min(len(text), at + _LONGEST_NAME)
    while end < limit:
        sign = text[end]
        if sign == "(" and end > at:
            depth += 1
        elif sign == ")" and depth:
            depth -= 1
        elif sign in ",[]{}()\n":
            break
        end += 1
    name = text[at:end].strip()
    if end >= limit:
        raise UnreadableError("breaks off" if limit == len(text) else "a name without an end", at)
    if not name:
        raise UnreadableError(f"{text[at]!r} where a name is expected", at)
    if _ALL_MARKS & set(name) or name[-1] in _MARKS:
        raise UnreadableError(f"the quotation marks of {name[:40]!r} do not pair", at)
    return (None if name.lower() in _NOTHING else name), end


def _skip(text: str, at: int) -> int:
    """Skip white space and comments; a comment without an end within the limit is not a comment."""
    while at < len(text):
        if text[at].isspace():
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # an empty match is one too
        else:
            closing = _COMMENTS.get(text[at : at + 2])
            end = text.find(closing, at, at + _LONGEST_COMMENT) if closing else -1
            if closing is None or end < 0:
                return at
            at = end + len(closing)
    return at
