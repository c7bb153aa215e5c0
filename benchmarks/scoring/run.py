#!/usr/bin/env python3
"""How long scoring takes: the paper's whole DAT study, the greedy search, and opening two million word vectors.

    python -m benchmarks.scoring.run      (from the repository's root)

Vectors are random (distances don't depend on what the numbers mean, time does not either). A straightforward loop over
pairs is timed next to the scorer on the same lists, and both must agree.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from creval.errors import UsageError
from creval.types.components import ScorerInput
from creval.types.sample import Condition, SampleKey
from creval_association.baselines.greedy import greedy
from creval_association.geometry import unit
from creval_association.scorers.dat import Dat
from creval_encoders.word_vectors import FORMAT, VectorStore

MODELS, LISTS, WORDS = 54, 120, 10
VOCABULARY, DIMENSION = 42_000, 300


class Vectors:
    """An embedding in memory."""

    name = "random@1"
    cheap = True
    dimension = DIMENSION

    def __init__(self, words: Sequence[str]) -> None:
        self._index = {word: i for i, word in enumerate(words)}
        self.rows = np.random.default_rng(0).normal(size=(len(words), DIMENSION)).astype(np.float32)

    def has(self, text: str) -> bool:
        return text in self._index

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.rows[[self._index[text] for text in texts]])


class Context:
    """A context with one resource."""

    task, seed = "dat", 0

    def __init__(self, embedding: Vectors) -> None:
        self._embedding = embedding

    def resource(self, name: str) -> Any:
        return self._embedding

    async def ask(self, *arguments: Any, **settings: Any) -> Any:
        raise UsageError("this benchmark asks no model", fix="Measure scorers that need vectors alone.")


def vocabulary(count: int) -> list[str]:
    """Different words of letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(word) for word in itertools.islice(itertools.product(letters, repeat=5), count)]


def loop_over_pairs(lists: Sequence[Sequence[str]], embedding: Vectors) -> list[float]:
    """The formula as it is usually written: one cosine for each of the 21 pairs."""
    scores = []
    for words in lists:
        rows = embedding.embed(words[:7]).astype(np.float64)
        distances = []
        for i in range(7):
            for j in range(i + 1, 7):
                cosine = rows[i] @ rows[j] / (np.linalg.norm(rows[i]) * np.linalg.norm(rows[j]))
                distances.append(1.0 - cosine)
        scores.append(100.0 * float(np.mean(distances)))
    return scores


def score(lists: Sequence[Sequence[str]], embedding: Vectors) -> list[float]:
    """The scorer, in batches of 256 as the engine calls it."""
    context, scores = Context(embedding), []
    for start in range(0, len(lists), 256):
        items = [
            ScorerInput(SampleKey("dat", str(i), "default", 0), {}, Condition(), [list(words)], [], {})
            for i, words in enumerate(lists[start : start + 256])
        ]
        scores += [result.scores["dat"] for result in Dat().score(items, context)]
    return scores


def median(runs: int, work: Callable[[], object]) -> str:
    """Median seconds of several runs, by the clock and of the processor (which other programs do not lengthen)."""
    clock, processor = [], []
    for _ in range(runs):
        started, used = time.perf_counter(), time.process_time()
        work()
        clock.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    return f"{statistics.median(clock):.2f} s ({statistics.median(processor):.2f} s of processor time)"


def write_store(folder: Path, words: int) -> None:
    """A store of the right size whose vectors are a hole in the file."""
    names = sorted(f"word{i:07d}".encode() for i in range(words))
    offsets = np.zeros(words + 1, dtype=np.uint64)
    np.cumsum([len(name) for name in names], out=offsets[1:])
    np.save(folder / "offsets.npy", offsets)
    (folder / "words.bin").write_bytes(b"".join(names))
    np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float16, shape=(words, DIMENSION)).flush()
    meta = {"format": FORMAT, "name": "two-million", "words": words, "dimension": DIMENSION, "dtype": "float16"}
    (folder / "meta.json").write_text(json.dumps({**meta, "sha256": "0" * 64, "source": "made up"}))


def resident() -> int:
    """Bytes of this process in memory, pages of mapped files included (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def open_store(folder: str) -> None:
    """Open a store and look up 1,000 words; print the seconds of both and MB of memory after each."""
    before = resident()
    started = time.perf_counter()
    store = VectorStore(Path(folder))
    opened = time.perf_counter()
    at_once = resident()
    for i in random.Random(0).sample(range(store.info.words), 1000):
        index = store.find(f"word{i:07d}")
        assert index is not None
        store.row(index)
    done = time.perf_counter()
    print(json.dumps([opened - started, done - opened, (at_once - before) / 2**20, (resident() - before) / 2**20]))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--open", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.open:
        open_store(args.open)
        return
    words = vocabulary(VOCABULARY)
    embedding = Vectors(words)
    stream = random.Random(0)
    lists = [stream.sample(words, WORDS) for _ in range(MODELS * LISTS)]
    np.testing.assert_allclose(score(lists, embedding), loop_over_pairs(lists, embedding), atol=1e-6)
    ours = median(args.runs, lambda: score(lists, embedding))
    loop = median(args.runs, lambda: loop_over_pairs(lists, embedding))
    print(f"DAT study, {MODELS} models x {LISTS} lists: {ours}")
    print(f"the same as a loop over pairs: {loop}")
    units = unit(embedding.rows).astype(np.float32)
    seconds = median(args.runs, lambda: greedy(units, stream.randrange(VOCABULARY), WORDS))
    print(f"greedy search, 10 of {VOCABULARY:,} words: {seconds}")
    with tempfile.TemporaryDirectory() as scratch:
        write_store(Path(scratch), 2_000_000)
        found = []
        for _ in range(args.runs):
            command = [sys.executable, "-m", "benchmarks.scoring.run", "--open", scratch]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
        opening, looking, first, later = (statistics.median(column) for column in zip(*found, strict=True))
    print(f"2,000,000 word vectors: opened in {opening:.4f} s and {first:.1f} MB of memory")
    print(f"1,000 words looked up in them: {looking:.3f} s, {later:.0f} MB of memory in all")


if __name__ == "__main__":
    main()
