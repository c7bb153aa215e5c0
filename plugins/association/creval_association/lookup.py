"""Unit vectors of many texts at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from creval.plugin import Embedding, ScoringError
from creval_association.geometry import unit

__all__ = ["Lookup"]


class Lookup:
    """Unit vectors of texts, fetched together so that an encoder gets full batches.

    If word vectors do not contain a text of several words, it gets the mean of its words' vectors: with `phrases`
    `all` only if every word has one, with `any` over the words that have one. `missing` texts have no vector.
    """

    def __init__(
        self, embedding: Embedding, texts: Iterable[str], phrases: Literal["off", "all", "any"] = "off"
    ) -> None:
        wanted = list(dict.fromkeys(texts))
        direct = [text for text in wanted if embedding.has(text)]
        composed: dict[str, list[str]] = {}
        for text in wanted if phrases != "off" else ():
            parts = _parts(text)
            known = [part for part in parts if embedding.has(part)]
            if not embedding.has(text) and known and (phrases == "any" or len(known) == len(parts)):
                composed[text] = known
        every = list(dict.fromkeys([*direct, *(part for parts in composed.values() for part in parts)]))
        rows = embedding.embed(every) if every else np.zeros((0, embedding.dimension), dtype=np.float32)
        index = {text: i for i, text in enumerate(every)}
        means = [rows[[index[part] for part in parts]].mean(axis=0, keepdims=True) for parts in composed.values()]
        table = np.concatenate([rows[[index[text] for text in direct]], *means])
        usable = np.flatnonzero(table.any(axis=1))  # a vector of zeros has no direction
        self._units = unit(table[usable])
        named = [*direct, *composed]
        having = [named[row] for row in usable]
        self._index = {text: i for i, text in enumerate(having)}
        self.name = embedding.name
        self.missing = frozenset(text for text in wanted if text not in self._index)

    def __contains__(self, text: object) -> bool:
        return text in self._index

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return the unit vectors of texts, shape (n, dimension). Raises ScoringError for a text without one."""
        try:
            return np.asarray(self._units[[self._index[text] for text in texts]])
        except KeyError as error:
            raise ScoringError(f"{error.args[0]!r} has no vector", where=self.name) from None


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s\-/]+", text) if part]
