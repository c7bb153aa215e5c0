"""Static word vectors (GloVe, fastText, any other text file) as embeddings.

A store is a folder of word vectors that opens at once: memory-mapped rows with a sorted vocabulary.

    <cache>/vectors/<name>/
        meta.json     format, name, words, dimension, dtype, source file and its sha256
        vectors.npy   (words, dimension) float16 or float32, in the order of the vocabulary
        words.bin     the words as UTF-8, sorted by their bytes, one after the other
        offsets.npy   (words + 1) uint64: where each word begins in words.bin

Words are found by binary search in the mapped files, so opening reads a few hundred bytes whatever the number of
words, and only the pages in use count as memory.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import DataError, MissingPartError, ResourceOptions, ScoringError

__all__ = [
    "STORE_FORMAT",
    "VectorStore",
    "WordVectors",
    "list_stores",
    "open_fasttext",
    "open_glove",
    "open_vectors",
    "store_folder",
]


STORE_FORMAT = 1
"""The version of the file format of a store."""

_FILES = ("meta.json", "vectors.npy", "words.bin", "offsets.npy")


@dataclass(frozen=True, slots=True)
class VectorStoreInfo:
    """The contents of `meta.json`. `sha256` is the hash of the source text file."""

    name: str
    words: int
    dimension: int
    dtype: str
    sha256: str
    source: str
    folder: Path


def store_folder(cache: Path, name: str) -> Path:
    """Return the folder of the vectors called `name` (`glove/840b` and `glove-840b` are one name)."""
    return cache / "vectors" / name.replace("/", "-")


def list_stores(cache: Path) -> Sequence[VectorStoreInfo]:
    """Return every complete store of a cache folder, by name."""
    root = cache / "vectors"
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return [_read_meta(folder) for folder in folders if all((folder / file).is_file() for file in _FILES)]


def _read_meta(folder: Path) -> VectorStoreInfo:
    try:
        meta: dict[str, Any] = json.loads((folder / "meta.json").read_text("utf-8"))
        if meta["format"] != STORE_FORMAT:
            raise DataError(
                f"format {meta['format']} is not {STORE_FORMAT}", where=str(folder), fix="Add the vectors again."
            )
        return VectorStoreInfo(
            name=str(meta["name"]),
            words=int(meta["words"]),
            dimension=int(meta["dimension"]),
            dtype=str(meta["dtype"]),
            sha256=str(meta["sha256"]),
            source=str(meta["source"]),
            folder=folder,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the vector store is damaged: {error!r}",
            where=str(folder),
            fix="Remove the folder and add the vectors again.",
        ) from error


class VectorStore:
    """An open store. Raises DataError if it is incomplete or damaged.

    Vocabulary and offsets are mapped into memory; vectors are read one by one if the system supports it: if mapped,
    each would make 16 pages around it resident.
    """

    def __init__(self, folder: Path) -> None:
        self.info = _read_meta(folder)
        try:
            self._vectors: np.memmap = np.lib.format.open_memmap(folder / "vectors.npy", mode="r")
            self._file = (folder / "vectors.npy").open("rb") if hasattr(os, "pread") else None
            # A plain view: the memmap class makes every access to an item several times slower.
            self._offsets = np.load(folder / "offsets.npy", mmap_mode="r", allow_pickle=False).view(np.ndarray)
            with (folder / "words.bin").open("rb") as file:
                self._words = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise DataError(
                f"the vector store is damaged: {error}", where=str(folder), fix="Add the vectors again."
            ) from error
        if self._vectors.shape != (self.info.words, self.info.dimension) or len(self._offsets) != self.info.words + 1:
            raise DataError("the files do not match", where=str(folder), fix="Add the vectors again.")

    def __len__(self) -> int:
        return self.info.words

    def word(self, index: int) -> str:
        """Return the word at a position of the sorted vocabulary."""
        return self._bytes(index).decode("utf-8", "replace")

    def find(self, word: str) -> int | None:
        """Return the position of a word (exact spelling), or None."""
        wanted = word.encode("utf-8", "replace")
        low, high = 0, self.info.words
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < self.info.words and self._bytes(low) == wanted else None

    def row(self, index: int) -> np.ndarray:
        """Return the vector at a position as float32."""
        if self._file is None:
            return np.asarray(self._vectors[index], dtype=np.float32)
        size = self._vectors.itemsize * self.info.dimension
        data = os.pread(self._file.fileno(), size, self._vectors.offset + index * size)
        return np.frombuffer(data, dtype=self._vectors.dtype).astype(np.float32)

    def mean(self) -> np.ndarray:
        """Return the mean of all vectors as float32, read in blocks."""
        total = np.zeros(self.info.dimension, dtype=np.float64)
        for start in range(0, self.info.words, 65_536):
            total += self._vectors[start : start + 65_536].sum(axis=0, dtype=np.float64)
        return np.asarray(total / self.info.words, dtype=np.float32)

    def _bytes(self, index: int) -> bytes:
        return self._words[self._offsets[index] : self._offsets[index + 1]]


class WordVectors:
    """Vectors from a store. A word that is not in the store, or whose vector is all zeros, has none.

    `name` is `<component>/<rest>@sha256:<of the text file>`, with the precision if it is not float32.
    """

    cheap = True  # no need to cache lookups

    def __init__(self, spec: str, store: VectorStore) -> None:
        self._store = store
        precision = "" if store.info.dtype == "float32" else f",{store.info.dtype}"
        self.name = f"{spec}@sha256:{store.info.sha256[:12]}{precision}"
        self.dimension = store.info.dimension

    @property
    def store(self) -> VectorStore:
        """Return the vocabulary and vectors themselves."""
        return self._store

    def has(self, text: str) -> bool:
        """Return whether the word, in this exact spelling, has a nonzero vector."""
        return self._vector(text) is not None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension). Raises ScoringError for a word without a vector."""
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
    """Open `glove/<size>`, e.g. `glove/840b`: the vectors added as `glove-840b`."""
    return _open("glove", model, options)


def open_fasttext(model: str, options: ResourceOptions) -> WordVectors:
    """Open `fasttext/<name>`, e.g. `fasttext/crawl-300d-2m`: the vectors added as `fasttext-crawl-300d-2m`."""
    return _open("fasttext", model, options)


def open_vectors(model: str, options: ResourceOptions) -> WordVectors:
    """Open `vectors/<name>`: any vectors added under that name."""
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
            fix=f"Get {source} and add it once: creval association vectors add {name} FILE. To try the task without, "
            "under a name of its own: --resource embedding=embedded/minilm",
        )
    return WordVectors(f"{component}/{model}", VectorStore(folder))
