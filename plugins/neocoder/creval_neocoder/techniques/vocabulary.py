"""The 34 techniques of the paper (Appendix D, detection prompt), and the parser of a reviewer's list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from creval.plugin.parsing import without_unseen

__all__ = ["MOST", "VOCABULARY", "Listed", "Unreadable", "read_techniques"]

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
"""A longer list is requested again, as in the released detection, since a reviewer may repeat all of the names."""

_ALIASES = {
    "divide and conquer": "divide & conquer",
    "dictionaries": "dictionary",
    "matrix operations": "matrix operation",
}
_BY_LOWER = {
    **{name.lower() + ending: name for name in VOCABULARY for ending in ("", "s", "es")},
    **_ALIASES,
}
_MARKS = "-*•◦▪·–0123456789.) \t"
_BULLET = re.compile(r"[-*•◦▪·–]|\d{1,2}[.)]\s")
_SEPARATOR = re.compile(r"\s*[,;/|]\s*")
_DENIED = re.compile(r"\(\s*(?:not?|none|never|un(?:used|necessary)|absent)\b", re.IGNORECASE)
_UNUSED = re.compile(r"\b(?:not?|unused|absent|without|avoided)\b.*:[*_]*$", re.IGNORECASE)
"""A heading before techniques that are not in the program."""


class Unreadable(ValueError):
    """A reviewer's text without a readable list of techniques: the reviewer's fault, never the program's."""


class Listed(NamedTuple):
    """A reviewer's list: the vocabulary's names in order, with duplicates, and all other entries."""

    names: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def read_techniques(text: str) -> Listed:
    """Return the techniques that a reviewer lists.

    Remarks in brackets or after a colon, markup, quotes, apostrophes, the plural and letter case are ignored, and `and`
    equals `&`. A line may name several, separated by commas or slashes. A line without a bullet is a remark, unless it
    consists of names. Entries outside the vocabulary or denied (`recursion (not used)`) are dropped, as in the
    released code. Raises Unreadable if no name of the vocabulary is listed, and if a heading (`Not used:`) denies
    the rest.
    """
    found: list[str] = []
    unknown: list[str] = []
    for line in text.splitlines():
        bare = line.strip()
        if _UNUSED.search(bare):
            raise Unreadable(f"a part of the list is of techniques not used: {bare[:60]!r}")
        parts = [part for part in _SEPARATOR.split(_before_remarks(bare)) if part]
        names = [_BY_LOWER.get(part.lower()) for part in parts]
        if _DENIED.search(bare):
            unknown += [bare[:60]] if any(names) else []
        elif _BULLET.match(bare) or all(names):
            found += [name for name in names if name]
            unknown += [part[:60] for part, name in zip(parts, names, strict=True) if not name]
    if not found:
        raise Unreadable(f"no technique of the vocabulary: {_few(unknown)}" if unknown else "names no technique")
    return Listed(tuple(found), tuple(unknown))


def _before_remarks(line: str) -> str:
    bare = re.sub(r"[*_`'\"’\[\]]", "", without_unseen(line).strip().lstrip(_MARKS))
    return " ".join(re.split(r"[(:]", bare)[0].strip(" .,;").split())


def _few(texts: Sequence[str]) -> str:
    return ", ".join(repr(text[:60]) for text in texts[:3])
