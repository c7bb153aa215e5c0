"""Parallel Association Chain Evaluation (Qiu & Hu 2025; arXiv:2605.13450, Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from creval.plugin import Context, Embedding, Score, ScorerInput, ScoringError
from creval_association.geometry import chain_distance, unit
from creval_association.lookup import Lookup

__all__ = ["Pace", "compose"]

OutOfVocabulary = Literal["drop", "mean_vector", "drop_chain"]


def compose(seed: str, words: Sequence[Any], length: int, variant: str = "paper") -> list[str]:
    """Return the scored chain: the seed, then the words of the answer, cut to `length` in all.

    `paper`: a repeated seed at the front is left out, as in Qiu & Hu; the first association occurs once.
    `released`: as in the code of arXiv:2605.13450, seed and first association are put before the answer, which
    begins with the first association again, so that this word occurs twice. The words keep their spelling.
    """
    cleaned = [word.strip() for word in words if isinstance(word, str) and word.strip()]
    if variant == "released":
        return [seed, *cleaned[:1], *cleaned][:length]
    while cleaned and cleaned[0].lower() == seed.lower():
        cleaned.pop(0)
    return [seed, *cleaned][:length]


@dataclass(frozen=True)
class Pace:
    """Mean of Eq. 4 over the chains of a sample; range [0, 2]. Each value of the item is one chain (a list of words).

    `length` words of a chain count; the first is the seed (field `seed` of the doc). `out_of_vocabulary` chooses the
    treatment of words without a vector: `drop` leaves the word out and counts it; `mean_vector` uses the mean of all
    vectors (Qiu & Hu's code); `drop_chain` leaves out the whole chain (the effect of the zero vectors in the code of
    arXiv:2605.13450). A chain of fewer than `minimum` words is left out and counted; a sample without any
    chain is unparsed.

    Scores: `pace`, `chains` (number that count), `chain_words` (their mean length), `type_token_ratio` (different words
    over words in all chains without seeds, in the spelling of the answer), `out_of_vocabulary` (words).
    """

    length: int = 20
    minimum: int = 2
    variant: Literal["paper", "released"] = "paper"
    out_of_vocabulary: OutOfVocabulary = "drop"
    _means: dict[str, np.ndarray] = field(default_factory=dict, init=False, compare=False, repr=False)

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        embedding = context.resource("embedding")
        chains = [
            [compose(str(item.doc["seed"]), value or (), self.length, self.variant) for value in item.values]
            for item in items
        ]
        lookup = Lookup(embedding, [word.lower() for group in chains for chain in group for word in chain])
        return [self._score_sample(group, lookup, embedding) for group in chains]

    def _score_sample(self, chains: Sequence[list[str]], lookup: Lookup, embedding: Embedding) -> Score:
        distances: list[float] = []
        lengths: list[int] = []
        missing: list[str] = []
        for spelt in chains:
            chain = [word.lower() for word in spelt]
            missing += [word for word in chain if word not in lookup]
            rows = self._rows(chain, lookup, embedding)
            if rows is not None and len(rows) >= self.minimum:
                distances.append(chain_distance(rows))
                lengths.append(len(rows))
        details = {"chains": [list(chain) for chain in chains], "no_vector": missing, "chain_pace": distances}
        if not distances:
            return Score({}, details, failure=f"no chain of at least {self.minimum} words")
        said = [word for chain in chains for word in chain[1:]]
        scores = {
            "pace": float(np.mean(distances)),
            "chains": float(len(distances)),
            "chain_words": float(np.mean(lengths)),
            "type_token_ratio": len(set(said)) / len(said),
            "out_of_vocabulary": float(len(missing)),
        }
        return Score(scores, details)

    def _rows(self, chain: Sequence[str], lookup: Lookup, embedding: Embedding) -> np.ndarray | None:
        """Return the unit vectors of a chain, or None if it is left out."""
        known = [word for word in chain if word in lookup]
        if self.out_of_vocabulary == "drop_chain" and len(known) < len(chain):
            return None
        if self.out_of_vocabulary == "mean_vector" and len(known) < len(chain):
            mean = self._mean(embedding)
            return np.stack([lookup.rows([word])[0] if word in lookup else mean for word in chain])
        return lookup.rows(known)

    def _mean(self, embedding: Embedding) -> np.ndarray:
        if embedding.name not in self._means:
            inner = getattr(embedding, "inner", embedding)
            mean = getattr(inner, "mean_vector", None)
            if mean is None:
                raise ScoringError("out_of_vocabulary: mean_vector needs word vectors", where=embedding.name)
            self._means[embedding.name] = unit(mean()[None, :])[0]
        return self._means[embedding.name]
