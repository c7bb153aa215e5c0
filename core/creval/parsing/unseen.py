"""Invisible characters: removed from answers before they are read, and out of what was read.

Models and the pages they learned from leave zero-width spaces, soft hyphens, marks of direction, byte order marks and
control characters inside words, and line separators that are no line feed (U+2028, U+2029, U+0085). Joiners (U+200C,
U+200D) stay: scripts and emoji need them.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["value_without_unseen", "without_unseen"]

_SEPARATORS = "\u2028\u2029\u0085"
_DROPPED = re.compile(
    "[\u200b\ufeff\u00ad\u034f\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufff9-\ufffb\u115f\u1160\u3164\uffa0"
    "\x00-\x08\x0e-\x1b\x7f]"
)
_SEPARATOR = re.compile(f"[{_SEPARATORS}]")
_QUOTED = re.compile(r'(?<![^\s\[{,:])"(?:[^"\\\n]|\\.)*"(?=\s*(?:[,\]}:]|$))', re.DOTALL)
"""A text in double quotes at a place where JSON has its texts."""


def without_unseen(value: Any) -> Any:
    """Return a text, or the texts in lists and objects, without such characters.

    A line separator becomes a line feed in prose. Inside a text of JSON it is white space, and it is dropped where the
    text is a single word. What holds no such character is returned as it is, the same object.
    """
    if not isinstance(value, str):
        return value_without_unseen(value)
    text = _DROPPED.sub("", value) if _DROPPED.search(value) else value
    if not _SEPARATOR.search(text):
        return text
    return _SEPARATOR.sub("\n", _QUOTED.sub(lambda quoted: _in_one_line(quoted[0]), text))


def value_without_unseen(value: Any) -> Any:
    """As `without_unseen`, of a value that was read: each of its texts is one of JSON."""
    if isinstance(value, str):
        text = _DROPPED.sub("", value) if _DROPPED.search(value) else value
        return _in_one_line(text) if _SEPARATOR.search(text) else text
    if isinstance(value, list):
        cleaned = [value_without_unseen(member) for member in value]
        return cleaned if any(new is not old for new, old in zip(cleaned, value, strict=True)) else value
    if isinstance(value, dict):
        members = {value_without_unseen(key): value_without_unseen(member) for key, member in value.items()}
        same = all(key in value and members[key] is value[key] for key in members) and len(members) == len(value)
        return value if same else members
    return value


def _in_one_line(text: str) -> str:
    """Join a word that separators cut; among several words a separator is a space."""
    joined = _SEPARATOR.sub("", text)
    return joined if len(joined.split()) <= 1 else _SEPARATOR.sub(" ", text)
