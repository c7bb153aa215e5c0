"""How few word sequences of a text are repeated."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from creval.plugin import Context, Score, ScorerInput
from creval.plugin.parsing import without_unseen

__all__ = ["Ngrams", "ngram_diversity"]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def ngram_diversity(text: str, longest: int = 5) -> float | None:
    """Return the mean, over n = 1 to `longest`, of the share of different ones among the text's sequences of n words.

    Case and punctuation do not count. None for a text of fewer words than `longest`: it has no sequence of that size.
    """
    words = _WORD.findall(unicodedata.normalize("NFC", without_unseen(text)).lower().replace("’", "'"))
    if len(words) < longest:
        return None
    shares = []
    for n in range(1, longest + 1):
        sequences = [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]
        shares.append(len(set(sequences)) / len(sequences))
    return sum(shares) / len(shares)


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
            return Score({}, failure=f"the answer has fewer than {self._longest} words")
        return Score({"ngram_diversity": sum(found) / len(found)})
