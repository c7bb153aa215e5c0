"""Short names of runs: each without the parts that all have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

__all__ = ["short_names"]

_BASELINE = "baseline/"
_LEAST = 4  # fewest letters of a name that lost words at its beginning
_TOKEN = re.compile(r"[^\s/:_·-]+[\s/:_·-]*|[\s/:_·-]+")
"""A word of a name, with the separators after it."""


def short_names(names: Sequence[str]) -> list[str]:
    """Return each name without its provider and the words that all share; all distinct, in the order of `names`.

    Baselines lose only their provider, and are ignored in finding shared words. A name that would be empty or equal to
    another one is unchanged.
    """
    last = [name.rpartition("/")[2] for name in names]
    short = [own if own and last.count(own) == 1 else name for own, name in zip(last, names, strict=True)]
    models = [place for place, name in enumerate(names) if not name.startswith(_BASELINE)]
    for place, cut in zip(models, _without_shared([short[place] for place in models]), strict=True):
        short[place] = cut
    counts = Counter(short)
    return [own if own and counts[own] == 1 else name for own, name in zip(short, names, strict=True)]


def _without_shared(names: Sequence[str]) -> list[str]:
    """Return the names without the words that all share at the beginning and end; a readable rest of each remains."""
    if len(names) < 2:
        return list(names)
    words = [_TOKEN.findall(name) for name in names]
    most = min(len(own) for own in words) - 1
    first = _shared(words, most)
    last = _shared([own[::-1] for own in words], most - first)
    while first and min(len("".join(own[first : len(own) - last])) for own in words) < _LEAST:
        first -= 1
    return ["".join(own[first : len(own) - last]).strip(" /:_·-") for own in words]


def _shared(words: Sequence[Sequence[str]], most: int) -> int:
    """Return how many of the first words are the same in all, at most `most`."""
    return next((n for n in range(max(most, 0)) if len({own[n] for own in words}) > 1), max(most, 0))
