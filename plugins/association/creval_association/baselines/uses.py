"""Floor and ceiling of AUT: random nouns as uses, and the nouns farthest from the object."""

from __future__ import annotations

import numpy as np

from creval.plugin import Turn
from creval_association.baselines.candidates import CandidatePool
from creval_association.lookup import Lookup

__all__ = ["FarthestUses", "RandomUses"]


class RandomUses:
    """`uses` random nouns of the task's word list, separated by semicolons."""

    def __init__(self, uses: int = 10) -> None:
        self._uses = uses

    def reply(self, turn: Turn) -> str:
        """Return the list."""
        return "; ".join(turn.random.sample(list(turn.context.resource("wordlist").words), self._uses))


class FarthestUses:
    """The `uses` nouns with the least cosine to the object, which maximize the score, sensible or not."""

    def __init__(self, uses: int = 10, candidates: int | None = None) -> None:
        self._uses = uses
        self._pool = CandidatePool(candidates)

    def reply(self, turn: Turn) -> str:
        """Return the list."""
        found = self._pool.get(turn.context)
        thing = str(turn.doc["object"])
        row = Lookup(turn.context.resource("embedding"), [thing]).rows([thing])[0]
        cosines = found.units @ row.astype(np.float32)
        return "; ".join(found.words[i] for i in np.argsort(cosines, kind="stable")[: self._uses])
