"""GloVe 6B 50d from its package: small vectors for tests and demonstrations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval.plugin import MissingPartError, ScoringError
from creval.plugin.data import sha256_of
from creval_embedded.weight_files import GLOVE

__all__ = ["PackagedGlove"]


class PackagedGlove:
    """`embedded/glove-6b-50d`: 400,000 lower-case words with 50 dimensions, memory-mapped.

    Not the vectors of the published tests (GloVe 840B, 300 dimensions): other size, other scale.
    """

    cheap = True  # no need to cache lookups

    def __init__(self) -> None:
        path = GLOVE.path()
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise MissingPartError(
                "the vocabulary of GloVe 6B 50d is a parquet file and the package pyarrow is not installed",
                where="embedding embedded/glove-6b-50d",
                fix="Install it: pip install 'pyarrow>=15'",
            ) from error
        words = parquet.read_table(GLOVE.path("data/glove_6B_index.parquet"))["index"].to_pylist()
        self._index = {word: i for i, word in enumerate(words)}
        self._vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        self.dimension = int(self._vectors.shape[1])
        self.name = f"embedded/glove-6b-50d@sha256:{sha256_of(path)[:12]}"

    @property
    def words(self) -> Sequence[str]:
        """Return the vocabulary, most frequent first."""
        return list(self._index)

    def has(self, text: str) -> bool:
        """Return whether the word, in this exact spelling, has a vector."""
        return text in self._index

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), 50). Raises ScoringError for a word without a vector."""
        for text in texts:
            if text not in self._index:
                raise ScoringError(f"{text!r} is not in the vocabulary", where=self.name)
        return np.asarray(self._vectors[[self._index[text] for text in texts]], dtype=np.float32)

    def mean_vector(self) -> np.ndarray:
        """Return the mean of all vectors as float32, shape (50,)."""
        return np.asarray(self._vectors.mean(axis=0, dtype=np.float64), dtype=np.float32)
