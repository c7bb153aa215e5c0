"""Read word vectors in the text formats of GloVe and fastText and write them as a store."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from creval.plugin import DataError
from creval_encoders import STORE_FORMAT, VectorStore, store_folder

__all__ = ["build_store"]

Dtype = Literal["float16", "float32"]
_LARGEST_DIMENSION = 10_000
_BLOCK = 8_192
_TOLD_EVERY = 100_000


def build_store(
    text: Path, name: str, cache: Path, dtype: Dtype = "float32", progress: Callable[[int], None] | None = None
) -> VectorStore:
    """Convert a text file of vectors into the store called `name`, and return the open store.

    Each line of the file is a word followed by its numbers, separated by single spaces. fastText's header line
    (`<words> <dimension>`) is recognised. A word may contain spaces, as some do in GloVe 840B: the last
    `dimension` fields are the numbers. Of two lines with the same word the first counts. The file is read once
    and written in blocks, so memory contains the vocabulary but never all vectors. The store appears only when
    complete. `progress` is called with the number of lines read, every 100,000 lines.

    Raises DataError (with the line) if the file cannot be read, a line has too few or non-finite numbers, or
    the header does not match the number of lines.
    """
    folder = store_folder(cache, name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".adding-", dir=folder.parent) as scratch:
        raw = Path(scratch) / "raw.bin"
        parts = Path(scratch) / "store"
        parts.mkdir()
        try:
            source = _read(text, raw, progress or (lambda _: None))
        except OSError as error:
            raise DataError(f"the vectors cannot be read: {error}", where=str(text), fix="Correct the path.") from error
        _write(source, raw, parts, dtype)
        meta = {
            "format": STORE_FORMAT,
            "name": name.replace("/", "-"),
            "words": len(source.words),
            "dimension": source.dimension,
            "dtype": dtype,
            "sha256": source.sha256,
            "source": text.name,
        }
        (parts / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        parts.rename(folder)
    return VectorStore(folder)


@dataclass(frozen=True, slots=True)
class _Source:
    words: dict[bytes, int]  # word -> its row in the raw file
    dimension: int
    sha256: str


def _read(text: Path, raw: Path, progress: Callable[[int], None]) -> _Source:
    """Read all lines; write the numbers of each new word to `raw` as float32 rows."""
    digest = hashlib.sha256()
    words: dict[bytes, int] = {}
    with text.open("rb") as file, raw.open("wb") as out:
        expected, dimension, head = _head(file, text)
        for line in head:
            digest.update(line)
        lines = head[1:] if expected is not None else head
        number = 1 + (expected is not None)
        seen = 0
        for line in _chain(lines, file, digest):
            seen += 1
            if seen % _TOLD_EVERY == 0:
                progress(seen)
            word, vector = _split(line, dimension, text, number)
            number += 1
            if word not in words:
                words[word] = len(words)
                out.write(vector.tobytes())
    if expected is not None and seen != expected:
        raise DataError(
            f"the first line announces {expected} words, the file has {seen}", where=str(text), fix="Fetch it again."
        )
    if not words:
        raise DataError("the file contains no vectors", where=str(text), fix="Name a GloVe or fastText text file.")
    return _Source(words, dimension, digest.hexdigest())


def _chain(first: list[bytes], rest: BinaryIO, digest: hashlib._Hash) -> Iterator[bytes]:
    yield from first
    for line in rest:
        digest.update(line)
        yield line


def _head(file: BinaryIO, text: Path) -> tuple[int | None, int, list[bytes]]:
    """Read the first lines; return the number of words of a header line, the dimension and those lines."""
    head = list(islice(file, 100))
    if not head:
        raise DataError("the file is empty", where=str(text), fix="Fetch it again.")
    first = head[0].split()
    if len(first) == 2 and all(field.isdigit() for field in first):
        return int(first[0]), int(first[1]), head
    # Without a header the dimension is the most common count of numbers at line ends: a word may end in a number.
    (dimension, lines), *_ = Counter(_numbers_at_end(line) for line in head).most_common(1)
    if not 1 <= dimension <= _LARGEST_DIMENSION or 2 * lines <= len(head):
        raise DataError(
            "the first lines are not words followed by one count of numbers",
            where=f"{text}:1",
            fix="Name a GloVe or fastText text file.",
        )
    return None, dimension, head


def _numbers_at_end(line: bytes) -> int:
    fields = line.split()
    count = 0
    for field in reversed(fields[1:]):  # the first field is always (part of) the word
        try:
            float(field)
        except ValueError:
            break
        count += 1
    return count


def _split(line: bytes, dimension: int, text: Path, number: int) -> tuple[bytes, np.ndarray]:
    """Split a line into its word and its numbers (little-endian float32)."""
    fields = line.rstrip(b" \r\n").rsplit(b" ", dimension)
    try:
        vector = np.array(fields[1:], dtype=np.float64).astype("<f4")
    except ValueError:
        vector = np.zeros(0, dtype="<f4")
    if len(fields) != dimension + 1 or vector.shape != (dimension,) or not np.isfinite(vector).all():
        raise DataError(
            f"the line is not a word and {dimension} finite numbers",
            where=f"{text}:{number}",
            fix="The file is damaged or of another format: fetch it again.",
        )
    return fields[0], vector


def _write(source: _Source, raw: Path, folder: Path, dtype: Dtype) -> None:
    """Write vocabulary and vectors in the order of the sorted words."""
    ordered = sorted(source.words)
    offsets = np.zeros(len(ordered) + 1, dtype=np.uint64)
    np.cumsum([len(word) for word in ordered], out=offsets[1:])
    np.save(folder / "offsets.npy", offsets)
    (folder / "words.bin").write_bytes(b"".join(ordered) or b"\0")
    rows = np.fromiter((source.words[word] for word in ordered), dtype=np.int64, count=len(ordered))
    read = np.memmap(raw, dtype="<f4", mode="r", shape=(len(ordered), source.dimension))
    written = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.dtype(dtype), shape=(len(ordered), source.dimension)
    )
    for start in range(0, len(ordered), _BLOCK):
        block = read[rows[start : start + _BLOCK]].astype(dtype)
        if not np.isfinite(block).all():
            raise DataError("a number does not fit into float16", where=str(raw), fix="Use float32.")
        written[start : start + _BLOCK] = block
    written.flush()
