"""The difference of one metric between two runs over the docs that both have: value, interval, test, verdict.

The smallest difference that a sample could have shown: found four times in five if it is there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from creval.plugin import Aggregation
from creval.plugin.comparing import (
    ANY,
    CONFIDENCE,
    NO_VARIATION,
    Clusters,
    Floats,
    Mean,
    Scale,
    degrees_of_freedom,
    effective_docs,
    quantile,
)
from creval_compare.difference_intervals import bootstrap_difference, difference_interval
from creval_compare.significance import ALPHA, LEAST_DOCS, mcnemar, swap_test

__all__ = [
    "POWER",
    "Difference",
    "Interval",
    "Pairs",
    "Spread",
    "Verdict",
    "compare_pairs",
    "detectable_mean",
    "detectable_share",
    "paired_means",
    "paired_spread",
    "within_scale",
]


POWER = 0.8

_SIMULATED = 9  # docs up to which the swap test itself is looked at; beyond it is as strong as the t test

_STUDIES = 4_000

_STEPS = 40


def within_scale(detectable: float | None, scale: Scale) -> float | None:
    """Return a minimum detectable difference; None if no two values of the scale differ by so much."""
    if detectable is None or scale.low is None or scale.high is None:
        return detectable
    return detectable if detectable <= scale.high - scale.low else None


def detectable_mean(docs: int, deviation: float) -> float | None:
    """Return the smallest difference of means over `docs` docs whose differences have this standard deviation.

    It is what the two-sided swap test at 5 % finds with a probability of .8, for normal differences. None with fewer
    than LEAST_DOCS docs, which can show nothing, and where nothing varies.
    """
    if docs < LEAST_DOCS or not deviation > 0:
        return None
    return _standard_effect(docs) * deviation


@cache
def _standard_effect(docs: int) -> float:
    """That difference in standard deviations."""
    if docs <= _SIMULATED:
        return _simulated_effect(docs)
    from scipy.special import nctdtrinc, stdtrit

    critical = float(stdtrit(docs - 1, 1 - ALPHA / 2))
    return float(nctdtrinc(docs - 1, 1 - POWER, critical)) / math.sqrt(docs)


def _simulated_effect(docs: int) -> float:
    """By simulation of normal differences: exact, for the few docs where the test's own steps matter."""
    noise = np.random.default_rng(0).normal(size=(_STUDIES, docs))
    signs = 1.0 - 2.0 * ((np.arange(2 ** (docs - 1))[:, None] >> np.arange(docs)) & 1)  # the others mirror these
    allowed = int(ALPHA * len(signs))
    low, high = 0.0, 8.0
    for _ in range(_STEPS // 2):
        middle = (low + high) / 2
        found = 0
        for part in np.array_split(noise + middle, 20):
            larger = (np.abs(part @ signs.T) >= np.abs(part.sum(axis=1))[:, None] - 1e-9).sum(axis=1)
            found += int((larger <= allowed).sum())
        low, high = (low, middle) if found >= POWER * _STUDIES else (middle, high)
    return high


def detectable_share(docs: int, differing: int) -> float | None:
    """Return the smallest difference of two shares over `docs` docs, of which `differing` were met by one run alone.

    It is what exact McNemar at 5 % finds with a probability of .8 when as many docs differ as did, or as many as the
    difference itself needs. None where even a difference on every doc would not be found.
    """
    rate = differing / docs if docs else 0.0
    if docs < LEAST_DOCS or _power(docs, rate, 1.0) < POWER:
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(docs, rate, middle) >= POWER else (middle, high)
    return high


def _power(docs: int, rate: float, difference: float) -> float:
    """The chance that exact McNemar finds a difference of shares when this rate of docs differs at least."""
    from scipy.special import bdtr, bdtrc

    rate = max(rate, difference)
    if rate == 0:
        return 0.0
    share = (1 + difference / rate) / 2  # of the docs that differ, those that the better run meets
    sizes, critical = _critical(docs)
    weights = np.diff(bdtr(np.r_[sizes[0] - 1, sizes], docs, rate))
    won = bdtrc(critical - 1, sizes, share)
    return float(weights @ won)


@lru_cache(maxsize=64)
def _critical(docs: int) -> tuple[np.ndarray, np.ndarray]:
    """How many docs may differ so that a test can find anything, and of each number the least wins that it needs."""
    from scipy.special import bdtrc, bdtrik

    sizes = np.arange(LEAST_DOCS, docs + 1)
    least = np.ceil(bdtrik(1 - ALPHA / 2, sizes, 0.5)) + 1
    least = np.where(bdtrc(least - 2, sizes, 0.5) <= ALPHA / 2, least - 1, least)
    return sizes, np.minimum(least, sizes)


Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "cannot tell"]
"""Of the second run next to the first; `higher` and `lower` where a metric does not say which way is better."""

_LEAST = 1e-12  # of the weight: without the doc that has the rest nothing is known

_FEW = 5  # docs below which percentiles of resamples say nothing


@dataclass(frozen=True, slots=True)
class Pairs:
    """The values of two runs: the same docs, in the same order."""

    docs: tuple[str, ...]
    one: Clusters
    other: Clusters


class Difference(NamedTuple):
    """Second minus first. None: not defined, with `no_interval` the reason.

    `one` and `other` are the numbers over the `docs` shared docs. `method` names how the interval was made:
    `bonett_price`, `t`, `cluster_bootstrap`, `welch`, `none`; `test` names the test: `mcnemar`, `swap`, `permutation`,
    `t` (of suites), `none`. Interval and p-value are one procedure: a difference is rejected where both the interval's
    own statistic and the test reject it, so that the interval holds 0 where p is above 5 %, and only there.
    `detectable` is the smallest difference that so many docs could have shown, None where not even the largest one
    that there can be would have been. `gained` and `lost` are the docs that
    only the second, and only the first, met, where each has one 0/1.
    """

    docs: int
    one: float | None
    other: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    method: str = "none"
    no_interval: str | None = None
    p_value: float | None = None
    test: str = "none"
    detectable: float | None = None
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def verdict(self, higher_is_better: bool | None, margin: float | None = None) -> Verdict:
        """Return what the difference says at 5 %.

        `equivalent` where the interval lies within the margin, whatever the test says: such a difference does not
        matter. Else by interval and test, which agree; without evidence either way `cannot tell`.
        """
        inside = None if margin is None or self.low is None or self.high is None else max(-self.low, self.high)
        if inside is not None and margin is not None and inside <= margin:
            return "equivalent"
        if self.p_value is None or self.p_value > ALPHA or not self.value:
            return "cannot tell"
        if higher_is_better is None:
            return "higher" if self.value > 0 else "lower"
        return "better" if (self.value > 0) == higher_is_better else "worse"


class Spread(NamedTuple):
    """The centre of the interval of a difference, its standard error (0: nothing varies) and degrees of freedom."""

    centre: float
    error: float
    freedom: float


class Interval(NamedTuple):
    """The interval of a difference, how it was made, its p-value of no difference, and why there is none."""

    ends: tuple[float, float] | None = None
    method: str = "none"
    p_value: float = 0.0
    why: str | None = None

    def joined(self, difference: Difference) -> Difference:
        """Add it to a difference that has the p-value of its test: the larger holds, and the interval with it."""
        if self.ends is None:
            return difference._replace(no_interval=self.why)
        p_value = self.p_value if difference.p_value is None else max(difference.p_value, self.p_value)
        low, high = self.ends
        if p_value > ALPHA:
            low, high = min(low, 0.0), max(high, 0.0)
        return difference._replace(low=low, high=high, method=self.method, p_value=p_value)


def compare_pairs(
    aggregation: Aggregation, pairs: Pairs, scale: Scale = ANY, method: str = "auto", seed: int = 0
) -> Difference:
    """Compare the second side with the first.

    For 0/1 scores the interval of Bonett and Price, also of several repeats, with exact McNemar where each doc has one
    0/1 on either side and else the swap test over docs. Other ratios of sums: the swap test, and value -+ t * the
    jackknife's standard error. For an aggregation that is no ratio of sums: the swap test, and the bootstrap that
    draws whole docs. `method` is the metric's `ci`; `auto` is the above.
    """
    usable = _usable(aggregation, pairs)
    count = len(usable.docs)
    numbers = [aggregation.value(side) if count else None for side in (usable.one, usable.other)]
    first, second = numbers
    if first is None or second is None:
        why = "it is undefined on one side" if count else "no doc has a value on both sides"
        return Difference(count, first, second, None, no_interval=why)
    return _Comparison(aggregation, usable, (first, second), scale.of(aggregation), seed).made(method)


def paired_spread(aggregation: Aggregation, pairs: Pairs, scale: Scale = ANY) -> Spread | None:
    """Return the spread from which the interval of `compare_pairs` is made; None for what is no ratio of sums, and for
    fewer than two docs.
    """
    usable = _usable(aggregation, pairs)
    numbers = [aggregation.value(side) if len(usable.docs) > 1 else None for side in (usable.one, usable.other)]
    first, second = numbers
    if first is None or second is None or not hasattr(aggregation, "parts"):
        return None
    return _Comparison(aggregation, usable, (first, second), scale.of(aggregation), 0).spread()


def paired_means(
    one: Mapping[str, float], other: Mapping[str, float], binary: bool = False, scale: tuple[float, float] | None = None
) -> Difference:
    """Compare the means of two sets of values by doc over the docs that both have: the second side with the first.

    `binary`: the values are successes and failures. `scale`: between which values they lie. See `compare_pairs` for
    interval and test.
    """
    docs = tuple(sorted(one.keys() & other.keys()))
    sides = [Clusters.group([values[doc] for doc in docs], range(len(docs))) for values in (one, other)]
    known = Scale(0.0, 1.0, True) if binary else Scale(*scale) if scale else ANY
    return compare_pairs(Mean(), Pairs(docs, *sides), known)


def _usable(aggregation: Aggregation, pairs: Pairs) -> Pairs:
    """Leave out docs that have fewer values on one side than the aggregation needs, or nothing to count."""
    least = getattr(aggregation, "minimum_repeats", 1)
    keep = (pairs.one.sizes >= least) & (pairs.other.sizes >= least)
    parts = getattr(aggregation, "parts", None)
    if parts is not None:
        keep &= (parts(pairs.one)[1] > 0) & (parts(pairs.other)[1] > 0)
    if keep.all():
        return pairs
    docs = tuple(doc for doc, kept in zip(pairs.docs, keep, strict=True) if kept)
    return Pairs(docs, pairs.one.chosen(keep), pairs.other.chosen(keep))


class _Comparison:
    """The computation of one difference."""

    def __init__(
        self, aggregation: Aggregation, pairs: Pairs, numbers: tuple[float, float], scale: Scale, seed: int
    ) -> None:
        self._aggregation = aggregation
        self._pairs = pairs
        self._numbers = numbers
        self._scale = scale
        self._seed = seed
        self._value = numbers[1] - numbers[0]
        parts = getattr(aggregation, "parts", None)
        self._parts = None if parts is None else (np.stack(parts(pairs.one)), np.stack(parts(pairs.other)))

    def made(self, method: str) -> Difference:
        """Return the difference with its statistics."""
        docs, (one, other) = len(self._pairs.docs), self._numbers
        if docs < 2:
            return Difference(docs, one, other, self._value, no_interval="there is one doc only")
        interval = self._interval(method)
        if self._is_paired_share():
            return self._shares(interval)
        p_value = swap_test(self._aggregation, self._pairs.one, self._pairs.other, self._seed)
        found = None
        if self._parts is not None:
            error = (self._bonett_price() if self._scale.binary else self._centred())[1]
            found = within_scale(detectable_mean(docs, error * math.sqrt(docs)), self._scale)
        return interval.joined(
            Difference(docs, one, other, self._value, p_value=p_value, test="swap", detectable=found)
        )

    def _is_paired_share(self) -> bool:
        """Whether each doc has one 0/1 on either side."""
        if self._parts is None or not self._scale.binary:
            return False
        return all(bool(np.isin(side[0], (0, 1)).all() and (side[1] == 1).all()) for side in self._parts)

    def _shares(self, interval: Interval) -> Difference:
        assert self._parts is not None
        docs = len(self._pairs.docs)
        one, other = (side[0].astype(bool) for side in self._parts)
        names = np.array(self._pairs.docs, dtype=object)
        gained, lost = tuple(names[other & ~one]), tuple(names[one & ~other])
        values = Difference(docs, *self._numbers, self._value, p_value=mcnemar(len(gained), len(lost)), test="mcnemar")
        found = detectable_share(docs, len(gained) + len(lost))
        return interval.joined(values._replace(detectable=found, gained=gained, lost=lost))

    def _interval(self, method: str) -> Interval:
        if method == "none":
            return Interval()
        if self._parts is None or method == "cluster_bootstrap":
            return self._bootstrap()
        spread = self.spread()
        if spread.error == 0:
            return Interval(why="the difference is the same on every doc")
        return self._t(spread, "bonett_price" if self._scale.binary else "t")

    def spread(self) -> Spread:
        """Of a ratio of sums: after Bonett and Price for 0/1 scores, else the jackknife's."""
        freedom = degrees_of_freedom(self._weight())
        if self._scale.binary:
            return Spread(*self._bonett_price(), freedom)
        centre, error = self._centred()
        return Spread(centre, 0.0 if self._still(error) else error, freedom)

    def _bootstrap(self) -> Interval:
        if len(self._pairs.docs) < _FEW:
            return Interval(why=f"there are fewer than {_FEW} docs")
        sides = (self._pairs.one, self._pairs.other)
        found = bootstrap_difference(self._aggregation, sides, self._seed, CONFIDENCE)
        if found is None:
            return Interval(why="the metric is undefined in too many resamples")
        low, high, p_value = found
        if self._still(high - low):
            return Interval(why="the difference is the same on every doc")
        return Interval((low, high), "cluster_bootstrap", p_value)

    def _t(self, spread: Spread, method: str) -> Interval:
        """The interval centre -+ t * error, within what the difference can be."""
        from scipy.special import stdtr

        centre, error, freedom = spread
        reach = float(quantile(freedom, CONFIDENCE))
        low, high = difference_interval(centre, error, reach, self._scale)
        p_value = 2.0 * float(stdtr(freedom, -abs(centre) / error))
        return Interval((min(low, self._value), max(high, self._value)), method, p_value)

    def _weight(self) -> Floats:
        """The share of each doc in the difference, shape (docs,); their sum is 1."""
        assert self._parts is not None
        shares: Floats = sum(side[1] / side[1].sum() for side in self._parts) / 2
        return shares

    def _changes(self) -> Floats:
        """How far the difference moves when each doc is left out, shape (docs,)."""
        assert self._parts is not None
        left = [
            (side[0].sum() - side[0]) / np.maximum(side[1].sum() - side[1], _LEAST * side[1].sum())
            for side in self._parts
        ]
        changes: Floats = self._value - (left[1] - left[0])
        return changes

    def _centred(self) -> tuple[float, float]:
        """The difference and the jackknife's standard error of it."""
        docs = len(self._pairs.docs)
        return self._value, math.sqrt((docs - 1) / docs * float((self._changes() ** 2).sum()))

    def _bonett_price(self) -> tuple[float, float]:
        """Return the centre of the interval of a difference of paired shares, and its standard error.

        Bonett and Price (2012, J. Educ. Behav. Stat. 37, 479-488), which Fagerland, Lydersen and Laake (2014, Stat.
        Med. 33, 2850-2875) recommend: one doc is added to either kind that differs. Here with the t quantile, so that
        it is not too narrow for few docs, and for several repeats: the two added docs then differ by the
        sum d^2 / sum |d| of the docs' differences d, which is 1 for one repeat.
        """
        _, error = self._centred()
        docs = effective_docs(self._weight())
        differences = self._value + (len(self._pairs.docs) - 1) * self._changes()
        squares = error**2 * (docs - 1) + self._value**2
        added = (float((differences**2).sum()) + 0.5) / (float(np.abs(differences).sum()) + 0.5)
        centre = self._value * docs / (docs + 2)
        variance = (docs * squares + 2 * min(added, 1.0) ** 2) / (docs + 2) - centre**2
        return centre, math.sqrt(variance / (docs + 2))

    def _still(self, spread: float) -> bool:
        largest = max(float(np.abs(side.values).max()) for side in (self._pairs.one, self._pairs.other))
        return spread <= NO_VARIATION * max(1.0, largest)
