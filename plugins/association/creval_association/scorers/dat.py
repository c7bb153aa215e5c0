"""Divergent Association Task (Olson et al. 2021; arXiv:2605.13450, Eq. 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from creval.plugin import Context, Scorable, Score
from creval_association.geometry import mean_pairwise_distance
from creval_association.lookup import Lookup
from creval_association.validation import Variant, valid_words

__all__ = ["Dat", "DatDictionary"]


@dataclass(frozen=True)
class Dat:
    """100 times the mean pairwise cosine distance of the first `words` valid words; range [0, 200].

    A word is valid when the embedding has it, under one of the spellings of `creval_association.validation`. Fewer
    than `words` valid words: unparsed. Scores: `dat`, `valid_words` (of all that were given).
    """

    words: int = 7
    variant: Variant = "paper"

    def score(self, items: Sequence[Scorable], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        embedding = context.resource("embedding")
        known = self._known(context)
        kept = [valid_words(item.value, known, self.variant) for item in items]
        used = [each.words[: self.words] for each in kept]
        lookup = Lookup(embedding, [word for words in used for word in words])
        results = []
        for each, words in zip(kept, used, strict=True):
            details = {"words": list(words), "dropped": list(each.dropped)}
            if len(words) < self.words:
                results.append(Score({}, details, failure=f"{len(words)} valid words, {self.words} needed"))
                continue
            distance = 100.0 * mean_pairwise_distance(lookup.rows(words))
            results.append(Score({"dat": distance, "valid_words": float(len(each.words))}, details))
        return results

    def _known(self, context: Context) -> Callable[[str], bool]:
        has: Callable[[str], bool] = context.resource("embedding").has
        return has


@dataclass(frozen=True)
class DatDictionary(Dat):
    """`Dat` with the validation of the published scorer: a word must also stand in the dictionary, the task's
    resource `wordlist_dictionary`. Of the dictionary only entries of letters with hyphens inside count.
    """

    def _known(self, context: Context) -> Callable[[str], bool]:
        has: Callable[[str], bool] = context.resource("embedding").has
        dictionary = context.resource("wordlist_dictionary")
        return lambda word: word in dictionary and word[0] != "-" and word[-1] != "-" and has(word)
