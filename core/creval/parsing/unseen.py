"""Characters that nobody sees: taken out of answers before they are read, and out of what was read.

Models and the pages they learned from leave zero-width spaces, soft hyphens, marks of direction, byte order marks and
control characters inside words, and line separators that are no line feed. Joiners (U+200C, U+200D) stay: scripts and
emoji need them.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["without_unseen"]

_UNSEEN = re.compile(
    "[\u2028\u2029\u0085\u200b\ufeff\u2060\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1b\x7f]"
)
_BREAKS = {"\u2028": "\n", "\u2029": "\n", "\u0085": "\n"}


def without_unseen(value: Any) -> Any:
    """Return a text, or the texts in lists and objects, without such characters; U+2028, U+2029, U+0085 are breaks.

    What holds none of them is returned as it is, the same object.
    """
    if isinstance(value, str):
        if not _UNSEEN.search(value):
            return value
        return _UNSEEN.sub(lambda match: _BREAKS.get(match.group(), ""), value)
    if isinstance(value, list):
        cleaned = [without_unseen(member) for member in value]
        return cleaned if any(new is not old for new, old in zip(cleaned, value, strict=True)) else value
    if isinstance(value, dict):
        members = {without_unseen(key): without_unseen(member) for key, member in value.items()}
        same = all(key in value and members[key] is value[key] for key in members) and len(members) == len(value)
        return value if same else members
    return value
