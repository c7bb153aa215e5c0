"""Embeds each distinct text once: within a run from memory, across runs from disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from creval.errors import ScoringError
from creval.resources.options import ResourceOptions
from creval.resources.vector_cache import VectorCache
from creval.types.components import Embedding

__all__ = ["CachedEmbedding"]

_KEPT_IN_MEMORY = 100_000


class CachedEmbedding:
    """An `Embedding` around another one. Safe to use from several threads.

    Texts are embedded in batches and stored in `<cache>/embeddings.sqlite` under the full instrument name, so
    another revision or checksum never meets the vectors of this one. An embedding whose look-up costs next
    to nothing (word vectors) says so by an attribute `cheap = True` and is not stored on disk.
    """

    def __init__(self, inner: Embedding, options: ResourceOptions) -> None:
        self._inner = inner
        self._batch = max(1, options.batch_size)
        self._lock = threading.Lock()
        self._known: dict[str, np.ndarray] = {}
        self._disk: VectorCache | None = None
        if options.persist and not getattr(inner, "cheap", False):
            self._disk = VectorCache(options.folder / "embeddings.sqlite", inner.name, inner.dimension)
        self.embedded = 0  # texts that really went through the inner embedding

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def inner(self) -> Embedding:
        """The embedding behind the cache."""
        return self._inner

    def has(self, text: str) -> bool:
        """Whether the text has a vector."""
        return bool(text) and (text in self._known or self._inner.has(text))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension).

        Raises ScoringError for an empty text, a text without a vector, or a vector that is not finite.
        """
        with self._lock:
            distinct = list(dict.fromkeys(texts))
            vectors = {text: self._known[text] for text in distinct if text in self._known}
            missing = [text for text in distinct if text not in vectors]
            if missing:
                found = self._look_up(missing)
                vectors.update(found)
                self._remember(found)
            if not texts:
                return np.zeros((0, self.dimension), dtype=np.float32)
            return np.stack([vectors[text] for text in texts])

    def close(self) -> None:
        """Close the store on disk and the inner embedding where it can be closed."""
        if self._disk is not None:
            self._disk.close()
        close = getattr(self._inner, "close", None)
        if close is not None:
            close()

    def _look_up(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Vectors of texts that memory lacks: from disk, else made and stored, batch by batch."""
        if not all(texts):
            raise ScoringError("an empty text has no vector", where=self.name)
        found = self._disk.read(texts) if self._disk is not None else {}
        for batch in _batches([text for text in texts if text not in found], self._batch):
            made = self._make(batch)
            if self._disk is not None:
                self._disk.write(made)
            found.update(made)
        return found

    def _make(self, batch: Sequence[str]) -> dict[str, np.ndarray]:
        rows = np.asarray(self._inner.embed(batch), dtype=np.float32)
        if rows.shape != (len(batch), self.dimension):
            raise ScoringError(f"gave vectors of shape {rows.shape} for {len(batch)} texts", where=self.name)
        if not np.isfinite(rows).all():
            bad = batch[int(np.argmin(np.isfinite(rows).all(axis=1)))]
            raise ScoringError(f"the vector of {bad!r} is not finite", where=self.name)
        self.embedded += len(batch)
        return {text: rows[i] for i, text in enumerate(batch)}

    def _remember(self, vectors: dict[str, np.ndarray]) -> None:
        if len(self._known) + len(vectors) > _KEPT_IN_MEMORY:
            self._known.clear()
        self._known.update(vectors)


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    # Texts of like length go together: a batch is padded to its longest.
    ordered = sorted(texts, key=len)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
