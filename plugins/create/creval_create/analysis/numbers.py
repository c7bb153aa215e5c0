"""Means over queries as the paper prints them, with standard deviation over queries and an interval of the mean."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from creval.plugin.statistics import estimate_mean

__all__ = ["Summary", "by_query", "grouped", "paired", "summary"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Summary(NamedTuple):
    """Mean, standard deviation over queries, 95 % interval of the mean, and number of queries; None: undefined."""

    mean: float | None
    deviation: float | None
    low: float | None
    high: float | None
    number: int


def summary(values: Iterable[float | None], low: float | None = 0.0, high: float | None = None) -> Summary:
    """Summarise values between two bounds (by default: not negative); None is left out."""
    known = [value for value in values if value is not None]
    found = estimate_mean(known, low, high)
    deviation = statistics.stdev(known) if len(known) > 1 else None
    return Summary(found.value, deviation, found.ci_low, found.ci_high, len(known))


def paired(one: Mapping[K, float], other: Mapping[K, float]) -> Summary:
    """Summarise the differences other - one over the queries that both have."""
    return summary((other[key] - one[key] for key in one if key in other), low=None)


def grouped(items: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Collect values by key, keys in the order of their first appearance."""
    found: dict[K, list[V]] = {}
    for key, value in items:
        found.setdefault(key, []).append(value)
    return found


def by_query(values: Sequence[tuple[K, float]]) -> dict[K, float]:
    """Return the mean of each query's repeats."""
    return {key: statistics.fmean(each) for key, each in grouped(values).items()}
