"""Alternative Uses Task, originality only (Guilford 1956; arXiv:2603.09970, Appendix H)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from creval.plugin import Context, Score, ScorerInput
from creval_association.lookup import Lookup

__all__ = ["Aut"]


@dataclass(frozen=True)
class Aut:
    """Mean cosine distance of the first `uses` uses to the object (doc field `object`); range [0, 2].

    With word vectors, a use of several words has the mean vector of its words that have one; a use without a vector is
    left out and listed. Scores: `aut_originality`, `fluency` (number of different uses). An answer is unparsed if no
    use has a vector; it is an error if the object has none.
    """

    uses: int = 10

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Return one score for each item, in order."""
        given = [_different(item.value) for item in items]
        objects = [str(item.doc["object"]).lower() for item in items]
        texts = [*objects, *(use for uses in given for use in uses)]
        lookup = Lookup(context.resource("embedding"), texts, phrases="any")
        return [self._score_sample(uses, thing, lookup) for uses, thing in zip(given, objects, strict=True)]

    def _score_sample(self, uses: Sequence[str], thing: str, lookup: Lookup) -> Score:
        known = [use for use in uses if use in lookup][: self.uses]
        details = {"uses": known, "no_vector": [use for use in uses if use not in lookup]}
        if thing not in lookup:
            return Score({}, details, failure=f"the object {thing!r} has no vector", errored=True)
        if not known:
            return Score({}, details, failure="no use in the answer")
        cosines = lookup.rows(known) @ lookup.rows([thing])[0]
        return Score({"aut_originality": float(np.mean(1.0 - cosines)), "fluency": float(len(uses))}, details)


def _different(value: object) -> list[str]:
    items = value if isinstance(value, list | tuple) else []
    cleaned = (" ".join(item.lower().split()) for item in items if isinstance(item, str))
    return list(dict.fromkeys(item for item in cleaned if item))
