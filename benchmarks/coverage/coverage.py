"""How often the intervals that `ci: auto` makes hold the truth: simulated studies, many at once.

Prints the table of docs/statistics.md:  python benchmarks/coverage/coverage.py
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from creval.scoring.intervals import clopper_pearson, quantile, t_interval, transformed_interval
from creval.scoring.metric_estimate import CONFIDENCE

__all__ = ["DOCS", "ROWS", "Row", "Studies", "coverage", "studies", "table"]

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


def _alike(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """Repeats that share nearly all of their variance (correlation .99)."""
    level = random.normal(truth, np.sqrt(0.99), (*shape[:2], 1))
    return level + random.normal(0.0, np.sqrt(0.01), shape)


def _apart(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """Independent repeats."""
    return random.normal(truth, 1.0, shape)


def _shares(random: np.random.Generator, shape: tuple[int, int, int], truth: float) -> Array:
    """Shares from 0 to 1, most of them near the one end."""
    return np.repeat(random.beta(3.0, 3.0 / truth - 3.0, (*shape[:2], 1)), shape[2], axis=2)


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
    """One row: how scores are drawn, how many repeats a doc has, and the true means to try (the worst is shown).

    `sizes`: a doc keeps all of its answers, `some` (from 1 to all, at random), or one doc in five keeps `tens` (all)
    and the others one. `weights`: by `count` (1 to 60) or `lognormal`. `bounds`: the declared range.
    """

    label: str
    draw: Draw
    repeats: int
    truths: tuple[float, ...]
    binary: bool = False
    sizes: str = "all"
    weights: str | None = None
    bounds: tuple[float | None, float | None] = (None, None)


ROWS = (
    Row("normal, one try", _normal, 1, (1.0,)),
    Row("normal, 4 dependent repeats", _normal, REPEATS, (1.0,)),
    Row("normal, 1 or 10 tries, correlation .99", _alike, 10, (1.0,), sizes="tens"),
    Row("normal, 1 or 10 independent tries", _apart, 10, (1.0,), sizes="tens"),
    Row("normal, weights by count from 1 to 60", _normal, 1, (1.0,), weights="count"),
    Row("normal, lognormal weights", _normal, 1, (1.0,), weights="lognormal"),
    Row("0/1, one try, worst of seven shares", _same, 1, SHARES, binary=True),
    Row("0/1, 4 repeats of correlation 1/2, worst share", _graded, REPEATS, SHARES, binary=True),
    Row("0/1, 4 equal repeats, worst share", _same, REPEATS, SHARES, binary=True),
    Row("0/1, 1 to 8 equal repeats, worst share", _same, 8, SHARES, binary=True, sizes="some"),
    Row("0/1, 1 or 10 equal repeats, worst share", _same, 10, SHARES, binary=True, sizes="tens"),
    Row("0/1, one try, share .97", _same, 1, (0.97,), binary=True),
    Row("0/1, 4 equal repeats, share .97", _same, REPEATS, (0.97,), binary=True),
    Row("skewed shares in a range from 0 to 1", _shares, 1, (0.857,), bounds=(0.0, 1.0)),
    Row("skewed shares, weights by count from 1 to 60", _shares, 1, (0.857,), weights="count", bounds=(0.0, 1.0)),
    Row("exponential in a range from 0, one try", _exponential, 1, (1.0,), bounds=(0.0, None)),
    Row("exponential in a range from 0, 4 equal repeats", _exponential, REPEATS, (1.0,), bounds=(0.0, None)),
)


class Studies(NamedTuple):
    """Simulated runs: scores and which of them are kept, of shape (studies, docs, repeats), and what each counts."""

    values: Array
    kept: Array
    weights: Array


def studies(row: Row, docs: int, truth: float) -> Studies:
    """Return STUDIES simulated runs."""
    random = np.random.default_rng(zlib.crc32(f"{row.label} {docs} {truth}".encode()))
    shape = (STUDIES, docs, row.repeats)
    values = row.draw(random, shape, truth)
    sizes = np.full(shape[:2], row.repeats)
    if row.sizes == "some":
        sizes = random.integers(1, row.repeats + 1, shape[:2])
    if row.sizes == "tens":
        sizes = np.where(np.arange(docs) < max(1, docs // 5), row.repeats, 1) + np.zeros(shape[:2], dtype=int)
    weights = np.ones(shape)
    if row.weights == "count":
        weights = random.integers(1, 61, shape).astype(np.float64)
    if row.weights == "lognormal":
        weights = random.lognormal(0.0, 1.0, shape)
    return Studies(values, (np.arange(row.repeats) < sizes[..., None]).astype(np.float64), weights)


def coverage(row: Row, docs: int, truth: float) -> float:
    """Return the share of studies whose interval holds the truth; one without an interval does not."""
    made = studies(row, docs, truth)
    weights = made.weights * made.kept
    sums, sizes = (made.values * weights).sum(axis=2), weights.sum(axis=2)
    total = sizes.sum(axis=1, keepdims=True)
    means = sums.sum(axis=1) / total[:, 0]
    if row.binary:
        low, high = clopper_pearson(means, total[:, 0] ** 2 / (sizes**2).sum(axis=1), CONFIDENCE)
    else:
        changes = (sums - means[:, None] * sizes) / (total - sizes)
        errors = np.sqrt((docs - 1) / docs * (changes**2).sum(axis=1))
        freedom = _freedom(sizes / total)
        if row.bounds == (None, None):
            low, high = t_interval(means, errors, freedom, CONFIDENCE)
        else:
            low, high = transformed_interval(means, errors, quantile(freedom, CONFIDENCE), *row.bounds)
    return float(((low <= truth) & (truth <= high)).mean())


def _freedom(share: Array) -> Array:
    """Satterthwaite's degrees of freedom of many studies, from the share of the weight that each doc has."""
    rest = 1 - share
    below = ((share / rest) ** 2).sum(axis=1) ** 2 + (share**2 * (1 - 2 * share) / rest**4).sum(axis=1)
    found: Array = (share / rest).sum(axis=1) ** 2 / below
    return found


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
