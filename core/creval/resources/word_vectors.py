"""Static word vectors (GloVe, fastText, any other text file) as embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval.errors import MissingPartError, ScoringError
from creval.resources.options import ResourceOptions
from creval.resources.vector_store import VectorStore, list_stores, store_folder

__all__ = ["WordVectors", "open_fasttext", "open_glove", "open_vectors"]


class WordVectors:
    """Vectors from a store. A word that the store lacks, or whose vector is all zeros, has none.

    `name` is `<component>/<rest>@sha256:<of the text file>`, with the precision where it is not float32.
    """

    cheap = True  # no need to keep what a look-up gives

    def __init__(self, spec: str, store: VectorStore) -> None:
        self._store = store
        precision = "" if store.info.dtype == "float32" else f",{store.info.dtype}"
        self.name = f"{spec}@sha256:{store.info.sha256[:12]}{precision}"
        self.dimension = store.info.dimension

    @property
    def store(self) -> VectorStore:
        """The vocabulary and vectors themselves."""
        return self._store

    def has(self, text: str) -> bool:
        """Whether the word, spelt exactly so, has a vector with a direction."""
        return self._vector(text) is not None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension). Raises ScoringError for a word without one."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for i, text in enumerate(texts):
            vector = self._vector(text)
            if vector is None:
                raise ScoringError(f"{text!r} is not in the vocabulary", where=self.name)
            rows[i] = vector
        return rows

    def mean_vector(self) -> np.ndarray:
        """Return the mean of all vectors of the store as float32, shape (dimension,). Reads the whole store."""
        return self._store.mean()

    def _vector(self, text: str) -> np.ndarray | None:
        index = self._store.find(text)
        if index is None:
            return None
        row = self._store.row(index)
        return row if row.any() else None


def open_glove(model: str, options: ResourceOptions) -> WordVectors:
    """`glove/<size>`, e.g. `glove/840b`: the vectors added as `glove-840b`."""
    return _open("glove", model, options)


def open_fasttext(model: str, options: ResourceOptions) -> WordVectors:
    """`fasttext/<name>`, e.g. `fasttext/crawl-300d-2m`: the vectors added as `fasttext-crawl-300d-2m`."""
    return _open("fasttext", model, options)


def open_vectors(model: str, options: ResourceOptions) -> WordVectors:
    """`vectors/<name>`: any vectors added under that name."""
    return _open("vectors", model, options)


_SOURCES = {
    "glove-840b": "glove.840B.300d.txt from the GloVe project",
    "glove-6b": "glove.6B.300d.txt from the GloVe project",
    "fasttext-crawl-300d-2m": "crawl-300d-2M.vec from the fastText project",
}


def _open(component: str, model: str, options: ResourceOptions) -> WordVectors:
    name = model if component == "vectors" else f"{component}-{model}"
    folder = store_folder(options.folder, name)
    if not (folder / "meta.json").is_file():
        known = [info.name for info in list_stores(options.folder)]
        have = f" There are: {', '.join(known)}." if known else ""
        source = _SOURCES.get(name, "the vectors as a text file")
        raise MissingPartError(
            f"there are no word vectors called {name!r}.{have}",
            where=f"{component}/{model}",
            cure=f"Get {source} and add it once: creval association vectors add {name} FILE",
        )
    return WordVectors(f"{component}/{model}", VectorStore(folder))
