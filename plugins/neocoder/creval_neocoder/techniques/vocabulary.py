"""The 34 techniques of the paper (Appendix D, detection prompt), and how a reviewer's list is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from creval.plugin import without_unseen

__all__ = ["MOST", "VOCABULARY", "Unreadable", "read_techniques"]

VOCABULARY: tuple[str, ...] = (
    "if statement",
    "for loop",
    "while loop",
    "break statement",
    "continue statement",
    "pass statement",
    "match statement",
    "recursion",
    "stack",
    "queue",
    "tuple",
    "set",
    "dictionary",
    "linked list",
    "tree",
    "graph",
    "two pointers",
    "sliding window",
    "matrix operation",
    "hashmap",
    "depth first search",
    "width first search",
    "back tracking",
    "divide & conquer",
    "Kadanes algorithm",
    "binary search",
    "heap",
    "dynamic programming",
    "greedy algorithm",
    "misc",
    "minimax",
    "topological sort",
    "sorting",
    "graph traversal",
)

MOST = 10
"""A list of more names is asked for again: the released detection does so, since a reviewer may repeat all of them."""

_BY_LOWER = {name.lower(): name for name in VOCABULARY} | {"divide and conquer": "divide & conquer"}
_MARKS = "-*•◦▪·–0123456789.) \t"
_BULLET = re.compile(r"[-*•◦▪·–]|\d{1,2}[.)]\s")
_DENIED = re.compile(r"\(\s*(?:not?|none|never|un(?:used|necessary)|absent)\b", re.IGNORECASE)
_UNUSED = re.compile(r"\b(?:not?|unused|absent|without|avoided)\b.*:[*_]*$", re.IGNORECASE)
"""A heading of techniques that are not in the program."""


class Unreadable(ValueError):
    """A reviewer's text from which no list of techniques can be read: the reviewer's fault, never the program's."""


def read_techniques(text: str) -> tuple[str, ...]:
    """Return the techniques that a reviewer lists, in order, doubles included; one bullet a line.

    Remarks in brackets, quotes, apostrophes and letter case do not matter, nor `and` for `&`. A line without a bullet
    is a remark, unless it is a name itself. Raises Unreadable where no line is a technique, where a bullet is none of
    the vocabulary or a line says more of one after a colon, and where a bullet (`recursion (not used)`) or a heading
    (`Not used:`) denies some.
    """
    found: list[str] = []
    unknown: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        name = _BY_LOWER.get(_name(bare).lower())
        if _UNUSED.search(bare):
            unknown.append(bare)
        elif name is not None and not _DENIED.search(bare):
            found.append(name)
        elif _name(bare) and (_BULLET.match(bare) or _name(bare.partition(":")[0]).lower() in _BY_LOWER):
            unknown.append(bare)
    if unknown:
        raise Unreadable(f"no technique of the vocabulary: {_few(unknown)}")
    if not found:
        raise Unreadable("names no technique")
    return tuple(found)


def _name(line: str) -> str:
    bare = without_unseen(line).lstrip(_MARKS).partition("(")[0].strip(" .:;,'\"`*[]")
    return " ".join(bare.replace("’", "").replace("'", "").split())


def _few(texts: Sequence[str]) -> str:
    return ", ".join(repr(text[:60]) for text in texts[:3])
