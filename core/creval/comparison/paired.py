"""The difference of one metric between two runs over the docs that both have: value, interval, test, verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from creval.comparison.detectable import detectable_mean, detectable_share
from creval.comparison.significance import ALPHA, mcnemar, swap_test
from creval.scoring.clusters import Clusters, Floats
from creval.scoring.estimate import CONFIDENCE
from creval.scoring.intervals import bootstrap_difference, t_interval
from creval.scoring.ratio import Mean
from creval.scoring.scale import ANY, Scale
from creval.types.components import Aggregation

__all__ = ["Difference", "Pairs", "Verdict", "compare_pairs", "paired_means"]

Verdict = Literal["better", "worse", "higher", "lower", "equivalent", "cannot tell"]
"""Of the second run beside the first; `higher` and `lower` where a metric does not say which way is better."""

_FEW = 5  # docs below which percentiles of resamples say nothing
_STILL = 1e-12  # of the largest value: a spread below it is rounding


@dataclass(frozen=True, slots=True)
class Pairs:
    """The values of two runs: the same docs, in the same order."""

    docs: tuple[str, ...]
    one: Clusters
    other: Clusters


class Difference(NamedTuple):
    """Second minus first. None: not defined, with `no_interval` the reason.

    `one` and `other` are the numbers over the `docs` shared docs. `method` names how the interval was made:
    `bonett_price`, `t`, `cluster_bootstrap`, `welch`, `none`; `test` how the p-value was: `mcnemar`, `swap`,
    `permutation`, `none`. `detectable` is the
    smallest difference that so many docs could have shown. `gained` and `lost` are the docs that only the second, and
    only the first, met, where each has one 0/1.
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
        matter. Else by the test; without evidence either way `cannot tell`.
        """
        inside = None if margin is None or self.low is None or self.high is None else max(-self.low, self.high)
        if inside is not None and margin is not None and inside <= margin:
            return "equivalent"
        if self.p_value is None or self.p_value > ALPHA or not self.value:
            return "cannot tell"
        if higher_is_better is None:
            return "higher" if self.value > 0 else "lower"
        return "better" if (self.value > 0) == higher_is_better else "worse"


def compare_pairs(
    aggregation: Aggregation, pairs: Pairs, scale: Scale = ANY, method: str = "auto", seed: int = 0
) -> Difference:
    """Compare the second side with the first.

    Where each doc has one 0/1 on either side: exact McNemar, and the interval of Bonett and Price. Else the swap test
    over docs, and value -+ t * standard error of the doc's differences, or for an aggregation that is no ratio of sums
    the bootstrap that draws whole docs. `method` is the metric's `ci`; `auto` is the above.
    """
    usable = _usable(aggregation, pairs)
    count = len(usable.docs)
    numbers = [aggregation.value(side) if count else None for side in (usable.one, usable.other)]
    first, second = numbers
    if first is None or second is None:
        return Difference(count, first, second, None, no_interval="no doc has a value on both sides")
    return _Comparison(aggregation, usable, (first, second), scale.of(aggregation), seed).made(method)


def paired_means(one: Mapping[str, float], other: Mapping[str, float], binary: bool = False) -> Difference:
    """Compare the means of two sets of values by doc over the docs that both have: the second side with the first.

    `binary`: the values are successes and failures. See `compare_pairs` for interval and test.
    """
    docs = tuple(sorted(one.keys() & other.keys()))
    sides = [Clusters.group([values[doc] for doc in docs], range(len(docs))) for values in (one, other)]
    return compare_pairs(Mean(), Pairs(docs, *sides), Scale(0.0, 1.0, True) if binary else ANY)


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
    """One difference in the making."""

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
        """Return the difference with all that is said of it."""
        docs, (one, other) = len(self._pairs.docs), self._numbers
        if docs < 2:
            return Difference(docs, one, other, self._value, no_interval="there is one doc only")
        if self._is_paired_share():
            return self._shares(docs, method)
        interval, used, why = self._interval(method)
        low, high = interval or (None, None)
        p_value = swap_test(self._aggregation, self._pairs.one, self._pairs.other, self._seed)
        found = None if self._parts is None else detectable_mean(docs, float(np.std(self._effects(), ddof=1)) * docs)
        return Difference(docs, one, other, self._value, low, high, used, why, p_value, "swap", found)

    def _is_paired_share(self) -> bool:
        """Whether each doc has one 0/1 on either side."""
        if self._parts is None or not self._scale.binary:
            return False
        return all(bool(np.isin(side[0], (0, 1)).all() and (side[1] == 1).all()) for side in self._parts)

    def _shares(self, docs: int, method: str) -> Difference:
        assert self._parts is not None
        one, other = (side[0].astype(bool) for side in self._parts)
        names = np.array(self._pairs.docs, dtype=object)
        gained, lost = tuple(names[other & ~one]), tuple(names[one & ~other])
        low = high = None
        if method != "none":
            low, high = _bonett_price(len(gained), len(lost), docs)
        used, p_value = "none" if low is None else "bonett_price", mcnemar(len(gained), len(lost))
        found = detectable_share(docs, len(gained) + len(lost))
        values = (docs, *self._numbers, self._value)
        return Difference(*values, low, high, used, None, p_value, "mcnemar", found, gained, lost)

    def _interval(self, method: str) -> tuple[tuple[float, float] | None, str, str | None]:
        if method == "none":
            return None, "none", None
        if self._parts is None or method == "cluster_bootstrap":
            if len(self._pairs.docs) < _FEW:
                return None, "none", f"there are fewer than {_FEW} docs"
            sides = (self._pairs.one, self._pairs.other)
            interval, used = bootstrap_difference(self._aggregation, sides, self._seed, CONFIDENCE), "cluster_bootstrap"
            if interval is None:
                return None, "none", "the metric is undefined in every resample"
        else:
            docs = len(self._pairs.docs)
            error = math.sqrt(docs) * float(np.std(self._effects(), ddof=1))
            interval, used = t_interval(self._value, error, docs, CONFIDENCE), "t"
        largest = max(float(np.abs(side.values).max()) for side in (self._pairs.one, self._pairs.other))
        if interval[1] - interval[0] <= _STILL * max(largest, _STILL):
            return None, "none", "the difference is the same on every doc"
        return self._clipped(interval), used, None

    def _effects(self) -> Floats:
        """What each doc adds to the difference of the two ratios (linearised), shape (docs,); their sum is 0.

        With as many values of a doc on either side it is its difference less the mean one, divided by the docs.
        """
        assert self._parts is not None
        ratios = [
            (side[0] - number * side[1]) / side[1].sum()
            for side, number in zip(self._parts, self._numbers, strict=True)
        ]
        effects: Floats = ratios[1] - ratios[0]
        return effects

    def _clipped(self, interval: tuple[float, float]) -> tuple[float, float]:
        low, high = self._scale.low, self._scale.high
        if low is None or high is None:
            return float(interval[0]), float(interval[1])
        return max(float(interval[0]), low - high), min(float(interval[1]), high - low)


def _bonett_price(gained: int, lost: int, docs: int) -> tuple[float, float]:
    """Return the 95 % interval of a difference of paired shares.

    Bonett and Price (2012, J. Educ. Behav. Stat. 37, 479-488): Wald's with one doc added to either kind that differs,
    which Fagerland, Lydersen and Laake (2014, Stat. Med. 33, 2850-2875) recommend; here with the t quantile of C - 1
    degrees of freedom, so that it is not too narrow for few docs.
    """
    from scipy.special import stdtrit

    up, down = (gained + 1) / (docs + 2), (lost + 1) / (docs + 2)
    error = math.sqrt((up + down - (up - down) ** 2) / (docs + 2))
    reach = float(stdtrit(docs - 1, (1 + CONFIDENCE) / 2)) * error
    return max(-1.0, up - down - reach), min(1.0, up - down + reach)
