"""The database of a discussion: fragments with their vectors, and the nearest ones to a query.

Source: paper 004, D.2.1, GET(Q, n): the n fragments most similar to Q, by cosine. The released code uses `squared_l2`
on vectors without normalisation. The earlier fragment wins a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from creval.plugin import Embedding
from creval_openended.judging.replies import Analyst

__all__ = ["Fragment", "Memory", "Similarity"]

Similarity = Literal["cosine", "squared_l2"]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a discussion: who said it, in which round (0: initialisation), and its number in the discussion."""

    number: int
    by: Analyst
    round: int
    text: str


class Memory:
    """The fragments of one criterion's discussion. A copy starts with the same fragments and is then independent."""

    def __init__(self, embedding: Embedding, similarity: Similarity = "cosine") -> None:
        self._embedding = embedding
        self._similarity: Similarity = similarity
        self._fragments: list[Fragment] = []
        self._vectors: list[np.ndarray] = []

    def copy(self) -> Memory:
        """Return a copy of the memory with the same fragments."""
        other = Memory(self._embedding, self._similarity)
        other._fragments, other._vectors = list(self._fragments), list(self._vectors)
        return other

    @property
    def fragments(self) -> Sequence[Fragment]:
        """Return all fragments in the order in which they were added."""
        return self._fragments

    def add(self, by: Analyst, round_: int, texts: Sequence[str]) -> None:
        """Store the texts of an analyst. Raises ScoringError if the embedding has no vector for it."""
        if not texts:
            return
        for text, vector in zip(texts, self._embedding.embed(texts), strict=True):
            self._fragments.append(Fragment(len(self._fragments) + 1, by, round_, text))
            self._vectors.append(np.asarray(vector, dtype=np.float64))

    def nearest(self, query: str, count: int) -> list[Fragment]:
        """Return at most `count` fragments, the nearest first."""
        if not self._fragments:
            return []
        asked = np.asarray(self._embedding.embed([query])[0], dtype=np.float64)
        known = np.stack(self._vectors)
        if self._similarity == "cosine":
            lengths = np.linalg.norm(known, axis=1) * np.linalg.norm(asked)
            near = np.divide(known @ asked, lengths, out=np.zeros(len(known)), where=lengths > 0)
        else:
            near = -((known - asked) ** 2).sum(axis=1)
        order = np.argsort(-near, kind="stable")[:count]
        return [self._fragments[index] for index in order]
