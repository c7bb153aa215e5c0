"""DAT's rule for valid words: cleaning, candidate spellings, and validation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from creval_association.words import Kept

__all__ = ["candidates", "valid_words"]

Variant = Literal["paper", "released"]
_DROPPED: Mapping[Variant, re.Pattern[str]] = {
    "paper": re.compile(r"[^a-zA-Z\- ]+"),
    "released": re.compile(r"[^a-zA-Z]+"),
}


def candidates(typed: str, variant: Variant = "paper") -> Sequence[str]:
    """Return the spellings under which to look up a typed word, in order (empty: not a word).

    `paper` is the rule of Olson et al. (2021), published with the test: everything but letters, hyphens and spaces
    is dropped; several words are tried hyphenated and joined ("cul de sac": cul-de-sac, culdesac); a hyphenated word
    is tried unchanged and joined. `released` is the rule of the code of arXiv:2605.13450: everything but letters is
    dropped.
    """
    if typed.isascii() and typed.isalpha():  # fast path for most words
        return (typed.lower(),) if len(typed) > 1 else ()
    kept = _DROPPED[variant].sub("", typed).strip().lower()
    if len(kept) <= 1:
        return ()
    if " " in kept:
        return (re.sub(" +", "-", kept), re.sub(" +", "", kept))
    return (kept, re.sub("-+", "", kept)) if "-" in kept else (kept,)


def valid_words(value: Any, known: Callable[[str], bool], variant: Variant = "paper") -> Kept:
    """Return the words of a parsed answer that are `known`, without repeats, in order."""
    words: dict[str, None] = {}
    dropped: list[str] = []
    for item in value if isinstance(value, list | tuple) else ():
        for spelling in candidates(item, variant) if isinstance(item, str) else ():
            if known(spelling):
                fresh = spelling not in words
                words[spelling] = None
                break
        else:
            fresh = False
        if not fresh and len(dropped) < 20:
            dropped.append(str(item)[:60])
    return Kept(tuple(words), tuple(dropped))
