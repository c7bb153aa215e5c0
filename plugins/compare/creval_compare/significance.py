"""Tests of "the two runs are equally good", doc by doc: exact McNemar, and the swap test; Holm's adjustment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from creval.plugin import Aggregation
from creval.plugin.comparing import Clusters, Floats

__all__ = ["ALPHA", "LEAST_DOCS", "holm", "mcnemar", "permutation_test", "swap_test"]

ALPHA = 0.05
LEAST_DOCS = 6
"""The least number of differing docs with which a two-sided test of this kind reaches 5 %: 2 / 2^5 is .0625."""

SWAPS = 9_999
SLOW_SWAPS = 999  # of an aggregation that has to be called anew each time
_EXACT, _SLOW_EXACT = 14, 9  # docs that differ, up to which every swap is looked at
_CELLS = 500_000  # random bits held at once
_ROUNDING = 1e-9

Swapped = np.ndarray[Any, np.dtype[np.bool_]]


def mcnemar(wins: int, losses: int) -> float:
    """Return the two-sided p-value of exact McNemar: if runs are equal, half of the differing docs go either way.

    McNemar (1947, Psychometrika 12, 153-157), exact by the binomial distribution: that of
    `scipy.stats.binomtest(wins, wins + losses)`.
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(wins, losses), wins + losses, 0.5))) if wins + losses else 1.0


def swap_test(aggregation: Aggregation, one: Clusters, other: Clusters, seed: int) -> float | None:
    """Return the two-sided p-value of the swap test over docs: if the runs are equal, a doc's values can change sides.

    Statistic: the difference of the aggregated numbers, which for means is that of the sign-flip test (Fisher's).
    If few docs differ, all swaps are tried, else SWAPS random ones from the seed, with p = (k + 1) / (n + 1). `one` and
    `other` hold the same docs in the same order. None if the metric is undefined.
    """
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        return _sum_swaps(np.stack(parts(one)), np.stack(parts(other)), seed, lambda sums: sums[0] / sums[1])
    if hasattr(aggregation, "of_sums"):
        sums = aggregation.sums(one), aggregation.sums(other)  # type: ignore[attr-defined]
        return _sum_swaps(*sums, seed, aggregation.of_sums)
    return _called_swaps(aggregation, one, other, seed)


def _sum_swaps(one: Floats, other: Floats, seed: int, number: Callable[[Floats], Floats]) -> float | None:
    """The test for a number of sums over docs; arrays of shape (sums, docs)."""
    differ = (one != other).any(axis=0)
    change = (other - one)[:, differ]
    before, after = one.sum(axis=1), other.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if not (np.isfinite(number(before)) and np.isfinite(number(after))):
            return None

    def differences(swapped: Swapped) -> Floats:
        moved = swapped @ change.T
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = number(after[:, None] - moved.T) - number(before[:, None] + moved.T)
        return found

    return _p_value(differences, int(differ.sum()), seed, (_EXACT, SWAPS))


def _called_swaps(aggregation: Aggregation, one: Clusters, other: Clusters, seed: int) -> float | None:
    """The test for any aggregation, which is called for each swap."""
    pairs = list(zip(one, other, strict=True))
    differ = [i for i, (a, b) in enumerate(pairs) if not np.array_equal(np.sort(a), np.sort(b))]
    if aggregation.value(one) is None or aggregation.value(other) is None:
        return None

    def difference(row: Swapped) -> float:
        turned = {differ[i] for i in np.flatnonzero(row)}
        sides = [(b, a) if i in turned else (a, b) for i, (a, b) in enumerate(pairs)]
        values = [aggregation.value([side[i] for side in sides]) for i in (0, 1)]
        return np.nan if values[0] is None or values[1] is None else values[1] - values[0]

    return _p_value(lambda rows: np.array(list(map(difference, rows))), len(differ), seed, (_SLOW_EXACT, SLOW_SWAPS))


def permutation_test(aggregation: Aggregation, one: Clusters, other: Clusters, seed: int) -> float | None:
    """Return the two-sided p-value of the permutation test: were the runs alike, each trial could be of either.

    SWAPS random divisions from the seed for a ratio of sums, SLOW_SWAPS for other aggregations. None if the metric
    is undefined.
    """
    if aggregation.value(one) is None or aggregation.value(other) is None:
        return None
    random = np.random.default_rng(seed)
    count, first = len(one) + len(other), len(one)
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        both = np.concatenate([np.stack(parts(one)), np.stack(parts(other))], axis=1)

        def difference(order: np.ndarray[Any, Any]) -> float:
            sums = both[:, order[:first]].sum(axis=1), both[:, order[first:]].sum(axis=1)
            return float(sums[1][0] / sums[1][1] - sums[0][0] / sums[0][1]) if sums[0][1] and sums[1][1] else np.nan
    else:
        values = [*one, *other]

        def difference(order: np.ndarray[Any, Any]) -> float:
            halves = [aggregation.value([values[i] for i in part]) for part in (order[:first], order[first:])]
            return np.nan if halves[0] is None or halves[1] is None else halves[1] - halves[0]

    observed = abs(difference(np.arange(count)))
    drawn = SWAPS if parts is not None else SLOW_SWAPS
    found = np.abs([difference(random.permutation(count)) for _ in range(drawn)])
    at_least = int((found >= observed - _ROUNDING * max(1.0, observed)).sum())
    return (at_least + 1) / (int(np.isfinite(found).sum()) + 1)


def _p_value(differences: Callable[[Swapped], Floats], count: int, seed: int, sizes: tuple[int, int]) -> float:
    """Return the share of swaps with a difference at least as large as the observed one."""
    if not count:
        return 1.0
    observed = abs(float(differences(np.zeros((1, count), dtype=bool))[0]))
    exact = count <= sizes[0]
    at_least = total = 0
    for swapped in _every(count) if exact else _drawn(count, sizes[1], seed):
        found = np.abs(differences(swapped))
        at_least += int((found >= observed - _ROUNDING * max(1.0, observed)).sum())
        total += int((~np.isnan(found)).sum())  # an infinite difference is one: a ratio by 0
    return at_least / total if exact else (at_least + 1) / (total + 1)


def _every(count: int) -> Iterator[Swapped]:
    numbers = np.arange(2**count)[:, None]
    yield (numbers >> np.arange(count)) & 1 == 1


def _drawn(count: int, swaps: int, seed: int) -> Iterator[Swapped]:
    random = np.random.default_rng(seed)
    rows = max(1, _CELLS // count)
    for start in range(0, swaps, rows):
        yield random.integers(0, 2, size=(min(rows, swaps - start), count), dtype=np.int8) == 1


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm (1979, Scand. J. Stat. 6, 65-70), in the given order."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted
