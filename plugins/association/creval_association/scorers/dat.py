"""Divergent Association Task (Olson et al. 2021; arXiv:2605.13450, Eq. 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from creval.plugin import Context, Score, ScorerInput
from creval_association.geometry import mean_pairwise_distance
from creval_association.lookup import Lookup
from creval_association.validation import Variant, valid_words

__all__ = ["Dat", "DatDictionary"]


_NONSENSE = "qxzvkjwqpfgh"
"""A string of consonants that is in no vocabulary; an embedding that accepts it has no vocabulary."""


@dataclass(frozen=True)
class Dat:
    """100 times the mean pairwise cosine distance of the first `words` valid words; range [0, 200].

    A word is valid if the embedding has it, in one of the spellings of `creval_association.validation`. An embedding
    without a vocabulary (a sentence encoder) has every string; then the dictionary validates, the task's resource
    `wordlist_dictionary`. `details.validated_by` names the validator. Scores: `dat`, `valid_words` (of all words in the
    answer). An answer with fewer than `words` valid words is unparsed, without `dat` but with `valid_words`.
    """

    words: int = 7
    variant: Variant = "paper"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        embedding = context.resource("embedding")
        known, by = self._validation(context)
        kept = [valid_words(item.value, known, self.variant) for item in items]
        used = [each.words[: self.words] for each in kept]
        lookup = Lookup(embedding, [word for words in used for word in words])
        results = []
        for each, words in zip(kept, used, strict=True):
            details = {"words": list(words), "dropped": list(each.dropped), "validated_by": by}
            scores = {"valid_words": float(len(each.words))}
            if len(words) < self.words:
                results.append(Score(scores, details, failure=f"{len(words)} valid words, {self.words} needed"))
                continue
            distance = 100.0 * mean_pairwise_distance(lookup.rows(words))
            results.append(Score({"dat": distance, **scores}, details))
        return results

    def _validation(self, context: Context) -> tuple[Callable[[str], bool], str]:
        """Return the function that accepts words, and its name."""
        embedding = context.resource("embedding")
        if embedding.has(_NONSENSE):
            return _by_dictionary(context)
        return embedding.has, f"the vocabulary of {embedding.name}"


@dataclass(frozen=True)
class DatDictionary(Dat):
    """`Dat` with the validation of the published scorer: with any embedding, words must also be in the dictionary."""

    def _validation(self, context: Context) -> tuple[Callable[[str], bool], str]:
        return _by_dictionary(context)


def _by_dictionary(context: Context) -> tuple[Callable[[str], bool], str]:
    """Return the validator: dictionary entries of letters with inner hyphens that are also in the embedding."""
    has: Callable[[str], bool] = context.resource("embedding").has
    dictionary = context.resource("wordlist_dictionary")

    def known(word: str) -> bool:
        return word in dictionary and word[0] != "-" and word[-1] != "-" and has(word)

    return known, str(dictionary.name)
