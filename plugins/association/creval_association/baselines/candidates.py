"""The nouns that a greedy baseline may choose from, with their unit vectors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from creval.plugin import Context, UsageError, counted

__all__ = ["CandidatePool", "Candidates"]

_FOR_ENCODERS = 2_000


@dataclass(frozen=True, slots=True)
class Candidates:
    """Words and their unit vectors (float32, one row per word)."""

    words: Sequence[str]
    units: np.ndarray


class CandidatePool:
    """Fetches the candidates of a context once: the words of its `wordlist` that are in its `embedding`.

    `limit` is the number of words taken from the start of the list. The default is all words if vectors are looked up,
    and 2,000 if a sentence encoder computes them.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._by_name: dict[tuple[str, str], Candidates] = {}

    def get(self, context: Context) -> Candidates:
        """Return the candidates. Raises UsageError if there are fewer than 10."""
        embedding, nouns = context.resource("embedding"), context.resource("wordlist")
        with self._lock:
            key = (str(embedding.name), str(nouns.name))
            if key not in self._by_name:
                cheap = getattr(getattr(embedding, "inner", embedding), "cheap", False)
                limit = self._limit or (None if cheap else _FOR_ENCODERS)
                words = [word for word in nouns.words if embedding.has(word)][:limit]
                if len(words) < 10:
                    raise UsageError(
                        f"only {counted(len(words), 'words')} of {nouns.name} have a vector",
                        where=str(embedding.name),
                        fix="Use another word list or embedding.",
                    )
                rows = np.asarray(embedding.embed(words), dtype=np.float32)
                self._by_name[key] = Candidates(words, rows / np.linalg.norm(rows, axis=1, keepdims=True))
            return self._by_name[key]
