"""The rule for which items of an answer count as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Kept", "plain_words"]


@dataclass(frozen=True, slots=True)
class Kept:
    """The words that count, in order, and the items left out (at most 20, cut to 60 characters)."""

    words: tuple[str, ...]
    dropped: tuple[str, ...]


def plain_words(value: Any, limit: int | None = None) -> Kept:
    """Return the first `limit` valid words of a parsed answer.

    A word is valid if, stripped and in lower case, it has more than one character, consists of letters and
    hyphens, and did not occur before (CDAT and DRAT; arXiv:2605.13450, 2.2 and 4.2). The part of speech is not checked.
    """
    items: Sequence[Any] = value if isinstance(value, list | tuple) else []
    words: list[str] = []
    dropped: list[str] = []
    for item in items:
        word = item.strip().lower() if isinstance(item, str) else ""
        if len(word) > 1 and word.replace("-", "").isalpha() and word not in words:
            words.append(word)
        elif len(dropped) < 20:
            dropped.append(str(item)[:60])
    return Kept(tuple(words[:limit]), tuple(dropped))
