"""How few word sequences of a text are repeated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from creval.plugin import Context, Score, ScorerInput

__all__ = ["Ngrams", "ngram_diversity"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def ngram_diversity(text: str, longest: int = 5) -> float | None:
    """Return the mean, over n = 1 to `longest`, of the share of different ones among the text's sequences of n words.

    Case and punctuation do not count. Sizes of which the text has none are left out; None for a text without words.
    """
    words = _WORD.findall(text.lower())
    shares = []
    for n in range(1, min(longest, len(words)) + 1):
        sequences = [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]
        shares.append(len(set(sequences)) / len(sequences))
    return sum(shares) / len(shares) if shares else None


class Ngrams:
    """Scores `ngram_diversity` of the answer, 0 to 1."""

    def __init__(self, longest: int = 5) -> None:
        self._longest = longest

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score each answer. Of several answers the mean counts."""
        return [self._of(item) for item in items]

    def _of(self, item: ScorerInput) -> Score:
        found = [share for text in item.values if (share := ngram_diversity(str(text), self._longest)) is not None]
        if not found:
            return Score({}, failure="the answer has no words")
        return Score({"ngram_diversity": sum(found) / len(found)})
