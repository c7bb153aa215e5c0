"""How often the intervals that `ci: auto` makes hold the truth: simulated studies, many at once.

Prints the table of docs/statistics.md:  python benchmarks/coverage/coverage.py
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from creval.scoring.estimate import CONFIDENCE
from creval.scoring.intervals import clopper_pearson, t_interval

__all__ = ["DOCS", "ROWS", "Row", "coverage", "studies", "table"]

DOCS = (2, 3, 5, 10, 30, 100)
STUDIES = 4_000
SHARES = (0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
REPEATS = 4

Array = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, tuple[int, int, int], float], Array]


def _normal(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """Repeats that share three quarters of their variance: the doc's own level."""
    level = random.normal(truth, np.sqrt(0.75), (*shape[:2], 1))
    return level + random.normal(0.0, np.sqrt(0.25), shape)


def _exponential(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    return np.repeat(random.exponential(truth, (*shape[:2], 1)), shape[2], axis=2)


def _graded(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """0/1 answers to docs whose chances follow a Beta distribution (correlation of two repeats: 1/2)."""
    chances = random.beta(truth, 1 - truth, (*shape[:2], 1))
    return (random.random(shape) < chances).astype(np.float64)


def _same(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """0/1 answers, all repeats of a doc alike."""
    return np.repeat((random.random((*shape[:2], 1)) < truth).astype(np.float64), shape[2], axis=2)


@dataclass(frozen=True)
class Row:
    """One row: how scores are drawn, how many repeats a doc has, and the true means to try (the worst is shown)."""

    label: str
    draw: Draw
    repeats: int
    truths: tuple[float, ...]
    binary: bool = False
    uneven: bool = False  # a doc keeps from 1 to `repeats` of its answers


ROWS = (
    Row("normal, one try", _normal, 1, (1.0,)),
    Row("normal, 4 dependent repeats", _normal, REPEATS, (1.0,)),
    Row("0/1, one try, worst of seven shares", _same, 1, SHARES, binary=True),
    Row("0/1, 4 repeats of correlation 1/2, worst share", _graded, REPEATS, SHARES, binary=True),
    Row("0/1, 4 equal repeats, worst share", _same, REPEATS, SHARES, binary=True),
    Row("0/1, 1 to 8 equal repeats, worst share", _same, 8, SHARES, binary=True, uneven=True),
    Row("0/1, one try, share .97", _same, 1, (0.97,), binary=True),
    Row("0/1, 4 equal repeats, share .97", _same, REPEATS, (0.97,), binary=True),
    Row("exponential, one try", _exponential, 1, (1.0,)),
    Row("exponential, 4 equal repeats", _exponential, REPEATS, (1.0,)),
)


def studies(row: Row, docs: int, truth: float) -> tuple[Array, Array]:
    """Return the scores of STUDIES simulated runs, shape (studies, docs, repeats), and which of them are kept."""
    random = np.random.default_rng(zlib.crc32(f"{row.label} {docs} {truth}".encode()))
    shape = (STUDIES, docs, row.repeats)
    values = row.draw(random, shape, truth)
    kept = np.ones(shape)
    if row.uneven:
        kept = (np.arange(row.repeats) < random.integers(1, row.repeats + 1, (*shape[:2], 1))).astype(np.float64)
    return values, kept


def coverage(row: Row, docs: int, truth: float) -> float:
    """Return the share of studies whose interval holds the truth; one without an interval does not."""
    values, kept = studies(row, docs, truth)
    sums, sizes = (values * kept).sum(axis=2), kept.sum(axis=2)
    means = sums.sum(axis=1) / sizes.sum(axis=1)
    if row.binary:
        low, high = clopper_pearson(means, docs, CONFIDENCE)
    else:
        residuals = sums - means[:, None] * sizes
        errors = np.sqrt(docs / (docs - 1) * (residuals**2).sum(axis=1)) / sizes.sum(axis=1)
        low, high = t_interval(means, errors, docs, CONFIDENCE)
    return float(((low <= truth) & (truth <= high)).mean())


def table() -> dict[str, list[float]]:
    """Return the coverage by row and number of docs."""
    return {row.label: [min(coverage(row, docs, truth) for truth in row.truths) for docs in DOCS] for row in ROWS}


def main() -> None:
    print("| scores | " + " | ".join(f"{docs} docs" for docs in DOCS) + " |")
    print("|---|" + "---|" * len(DOCS))
    for label, shares in table().items():
        print(f"| {label} | " + " | ".join(f"{share:.3f}".removeprefix("0") for share in shares) + " |")


if __name__ == "__main__":
    main()
