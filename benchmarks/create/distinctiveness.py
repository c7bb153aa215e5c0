#!/usr/bin/env python3
"""How much memory and time the distinctiveness of 20 models x 931 queries x 20 paths takes, embedding left out.

OMP_NUM_THREADS=1 python -m benchmarks.create.distinctiveness [--queries N]      (from the repository's root)
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from creval_create.analysis.population import Population
from creval_create.analysis.sets import JudgedSet

MODELS, QUERIES, PATHS = 20, 931, 20


class Drawn:
    """A vector for each string, drawn from its hash."""

    name, dimension = "drawn@1", 384

    def has(self, text: str) -> bool:
        """Every string has one."""
        return True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors."""
        return np.stack([np.random.default_rng(abs(hash(text))).normal(size=self.dimension) for text in texts])


def sets() -> Iterator[JudgedSet]:
    """Sets of 20 paths of three triples each, one after the other."""
    random = np.random.default_rng(1)
    for model in range(MODELS):
        for query in range(QUERIES):
            paths = []
            for _ in range(PATHS):
                one, other = random.integers(0, 100_000, 2)
                a, b = f"entity {one} of the graph", f"entity {other} of the graph"
                triples = [[f"start {query}", "knows", a], [a, "works with", b], [b, "lives in", f"end {query}"]]
                paths.append({"triples": triples, "refused": {}, "factual": [True] * 3, "class_sizes": [9, 50, 900]})
            yield JudgedSet(f"model {model}", "create", str(query), 0, {}, {"paths": paths}, 1, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=QUERIES, help="queries looked at")
    options = parser.parse_args()
    start = time.process_time()
    population = Population.of(sets())
    found = population.nearest(population.drawn(options.queries, 0), Drawn(), "run", 0.1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
    print(f"{len(found)} paths of {MODELS} models: {time.process_time() - start:.0f} processor s, peak {peak:.0f} MB")


if __name__ == "__main__":
    main()
