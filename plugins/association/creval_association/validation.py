"""DAT's rule of what counts as a word: cleaning, candidates, and who accepts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from creval_association.words import Kept

__all__ = ["candidates", "valid_words"]

Variant = Literal["paper", "released"]


def candidates(typed: str, variant: Variant = "paper") -> Sequence[str]:
    """Return the spellings to look a typed word up by, in order (none: it is no word).

    `paper` is the rule of Olson et al. (2021), which the test was published with: all but letters, hyphens and spaces
    is dropped; of several words the hyphenated and the joined form are tried ("cul de sac": cul-de-sac, culdesac); a
    hyphenated word is tried as it is and joined. `released` is the rule of the code behind arXiv:2605.13450: all but
    letters is dropped.
    """
    kept = re.sub(r"[^a-zA-Z\- ]+" if variant == "paper" else r"[^a-zA-Z]+", "", typed).strip().lower()
    if len(kept) <= 1:
        return ()
    if " " in kept:
        return (re.sub(" +", "-", kept), re.sub(" +", "", kept))
    return (kept, re.sub("-+", "", kept)) if "-" in kept else (kept,)


def valid_words(value: Any, known: Callable[[str], bool], variant: Variant = "paper") -> Kept:
    """Return the words of a parsed answer that are `known`, without repeats, in order."""
    words: list[str] = []
    dropped: list[str] = []
    for item in value if isinstance(value, list | tuple) else ():
        spellings = candidates(item, variant) if isinstance(item, str) else ()
        word = next((spelling for spelling in spellings if known(spelling)), None)
        if word is not None and word not in words:
            words.append(word)
        elif len(dropped) < 20:
            dropped.append(str(item)[:60])
    return Kept(tuple(words), tuple(dropped))
