"""Nearest valid words, for every message that says "unknown ..."."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(word: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` names of `known` that look like `word`, best first; empty where none is near.

    A qualified name (`plugin/task`) also matches on its last part, so that a right word in the wrong
    namespace is found.
    """
    import difflib

    names = list(dict.fromkeys(known))
    tails = {name.rsplit("/", 1)[-1]: name for name in names}
    found = difflib.get_close_matches(word, names, n=limit, cutoff=0.6)
    found += [tails[tail] for tail in difflib.get_close_matches(word.rsplit("/", 1)[-1], list(tails), limit, 0.6)]
    return tuple(dict.fromkeys(found))[:limit]
