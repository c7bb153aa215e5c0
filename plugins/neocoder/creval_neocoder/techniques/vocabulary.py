"""The 34 techniques of the paper (Appendix D, detection prompt), and how a reviewer's list is read."""

from __future__ import annotations

from collections.abc import Sequence

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

_BY_LOWER = {name.lower(): name for name in VOCABULARY}
_MARKS = "-*•–0123456789.) \t"


class Unreadable(ValueError):
    """A reviewer's text from which no list of techniques can be read: the reviewer's fault, never the program's."""


def read_techniques(text: str) -> tuple[str, ...]:
    """Return the techniques that a reviewer lists, in order, doubles included; one bullet a line.

    Remarks in brackets, quotes and letter case do not matter. A line without a bullet is a remark, unless it is a name
    itself. Raises Unreadable where no line is a technique, or a bullet is none of the vocabulary.
    """
    found: list[str] = []
    unknown: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        name = _BY_LOWER.get(_name(bare).lower())
        if name is not None:
            found.append(name)
        elif bare.startswith(("-", "*", "•")) and _name(bare):
            unknown.append(bare)
    if unknown:
        raise Unreadable(f"no technique of the vocabulary: {_few(unknown)}")
    if not found:
        raise Unreadable("names no technique")
    return tuple(found)


def _name(line: str) -> str:
    return line.lstrip(_MARKS).partition("(")[0].strip(" .:;,'\"`*[]").replace("’", "")


def _few(texts: Sequence[str]) -> str:
    return ", ".join(repr(text[:60]) for text in texts[:3])
