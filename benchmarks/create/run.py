#!/usr/bin/env python3
"""What scoring CREATE costs next to a plain double loop, and how many judge calls it saves.

    OMP_NUM_THREADS=1 python -m benchmarks.create.run [--data FOLDER] [--embed N]      (from the repository's root)

1. Creative utility of 931 sets of 20 paths, vectors given, next to a loop over pairs; both must agree.
2. One answer with 500 paths: reading, validity, utility.
3. The published judged answers: judge calls needed, next to two per path. FOLDER is that of the reference data.
4. Embedding of N distinct path strings: the encoder of this plugin next to a plain sentence-transformers loop.

Times are processor seconds of one thread, medians of five.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from creval_create.paths.strings import path_string
from creval_create.paths.triples import as_path, distinct
from creval_create.paths.validity import Target, Validity, fault
from creval_create.queries.own import judged_paths
from creval_create.reading.answer import read_answer
from creval_create.utility.distance import cosine_distances, transformed
from creval_create.utility.rules import Rules
from creval_create.utility.utility import utilities, utility

QUERIES, PATHS, WIDTH = 931, 20, 384
PATIENCES = (0.7, 0.9, 1.0)
T = TypeVar("T")


def main() -> None:
    """Run all parts and print them as markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("CREVAL_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the reference data")
    parser.add_argument("--embed", type=int, default=100, help="strings to embed in part 4; 0 leaves it out")
    options = parser.parse_args()
    print("| what | processor s |\n|---|---|")
    sets_of_paths()
    one_large_answer()
    if options.embed:
        embedding(options.embed)
    judge_calls(options.data / "create" / "judged_gemini-3.1-pro.jsonl")


def sets_of_paths() -> None:
    """Part 1."""
    random = np.random.default_rng(1)
    sets = [(random.integers(1, 6, PATHS).tolist(), random.normal(size=(PATHS, WIDTH)) + 1.0) for _ in range(QUERIES)]

    def ours() -> list[float]:
        return [
            value
            for qualities, rows in sets
            for value in utilities(qualities, transformed(cosine_distances(rows)), Rules(), PATIENCES)
        ]

    def loop() -> list[float]:
        return [value for qualities, rows in sets for value in plain(qualities, rows)]

    seconds, found = clock(ours)
    print(f"| {QUERIES} sets of {PATHS} paths at three patiences, vectors given | {seconds:.3f} |")
    slow, expected = clock(loop, 1)
    if not np.allclose(found, expected):
        raise SystemExit("the loop gives other numbers")
    print(f"| the same by a loop over pairs | {slow:.3f} ({slow / seconds:.1f} times) |")


def plain(qualities: Sequence[int], rows: np.ndarray) -> list[float]:
    """Eqs. 1, 2, 8 and 9 pair by pair."""
    count = len(rows)
    norms = [math.sqrt(float(row @ row)) for row in rows]
    distance = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i):
            x = 1 - float(rows[i] @ rows[j]) / (norms[i] * norms[j])
            distance[i][j] = distance[j][i] = 0.5 * (1 - math.cos(math.pi * (x / 0.7) ** 2)) if x <= 0.7 else 1.0
    order: list[int] = []
    gains: list[float] = []
    while len(order) < count:
        best, most = -1, -1.0
        for i in range(count):
            if i not in order:
                gain = qualities[i] * min((distance[i][j] for j in order), default=1.0)
                if gain > most:
                    best, most = i, gain
        order.append(best)
        gains.append(most)
    return [sum(gain * patience**place for place, gain in enumerate(gains)) for patience in PATIENCES]


def one_large_answer() -> None:
    """Part 2."""
    paths = {str(i): [["A", "knows", f"B {i}"], [f"B {i}", "lives in", "C"]] for i in range(500)}
    text = f"<answer>{json.dumps(paths)}</answer>"
    tuples = "<answer>{" + ", ".join(f"{k}: {[tuple(t) for t in p]!r}" for k, p in paths.items()) + "}</answer>"
    rows = np.random.default_rng(2).normal(size=(500, WIDTH))

    def score(answer: str) -> float:
        read = [found.path for found in read_answer(answer).paths]
        valid = [i for i in distinct(read) if fault(read[i], Target("A", "lives in", "C"), "strict") is None]
        return utility([3] * len(valid), transformed(cosine_distances(rows[valid])), Rules(), 0.9)

    for name, answer in (("JSON", text), ("tuples", tuples)):
        seconds, _ = clock(lambda answer=answer: score(answer))  # type: ignore[misc]
        print(f"| one answer with 500 paths as {name}: reading, validity, utility | {seconds:.3f} |")


def judge_calls(file: Path) -> None:
    """Part 3."""
    if not file.is_file():
        print("\nno reference data: judge calls left out")
        return
    answers = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    everything = 2 * sum(len(row["parsed_paths"]) for row in answers)
    print("\n| judge calls on the published answers of one model | calls | fewer |\n|---|---|---|")
    print(f"| two per path | {everything} | |")
    rules: tuple[Validity, ...] = ("strict", "shared", "released")
    for rule in rules:
        calls = 0
        for row in answers:
            paths = [as_path(path) for path in row["parsed_paths"]]
            target = Target(row["entity_a"], row["rel_b"], row["entity_b"])
            valid = [i for i in distinct(paths) if fault(paths[i], target, rule) is None]
            calls += len(valid) + sum(all(row["factuality_per_triple"][i]) for i in valid)
        print(f"| validity {rule}, strength of factual paths only | {calls} | {1 - calls / everything:.0%} |")


def embedding(count: int) -> None:
    """Part 4."""
    from creval.plugin import ResourceOptions
    from creval.plugin.data import cache_folder
    from creval_embedded.embeddings import open_embedding

    strings = list(dict.fromkeys(path_string(made.path) for made in judged_paths()))[:count]
    ours = open_embedding("minilm", ResourceOptions(cache=cache_folder()))
    seconds, rows = clock(lambda: ours.embed(strings), 3)
    print(f"| embedding {len(strings)} path strings with embedded/minilm | {seconds:.2f} |")
    try:
        slow, others = clock(sentence_transformers(strings), 3)
    except ImportError:
        return
    if float(np.abs(cosine_distances(rows) - cosine_distances(others)).max()) > 1e-4:
        raise SystemExit("sentence-transformers gives other distances")
    print(f"| the same one by one with sentence-transformers | {slow:.2f} ({slow / seconds:.1f} times) |")


def sentence_transformers(strings: Sequence[str]) -> Callable[[], np.ndarray]:
    """A plain loop over the library, on the weights that creval-embedded brings."""
    import torch
    from sentence_transformers import SentenceTransformer

    from creval_embedded import weight_files

    torch.set_num_threads(1)
    model = SentenceTransformer(str(weight_files.MINILM.path().parent), device="cpu", local_files_only=True)
    return lambda: np.array([model.encode(string, show_progress_bar=False) for string in strings])


def clock(action: Callable[[], T], times: int = 5) -> tuple[float, T]:
    """Median processor seconds of a call, and its result."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        result = action()
        taken.append(time.process_time() - start)
    return statistics.median(taken), result


if __name__ == "__main__":
    main()
