"""The smallest difference that a sample could have shown: found four times in five if it is there."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from creval.comparison.significance import ALPHA, LEAST_DOCS

__all__ = ["POWER", "detectable_mean", "detectable_share"]

POWER = 0.8
_SIMULATED = 9  # docs up to which the swap test itself is looked at; beyond it is as strong as the t test
_STUDIES = 4_000
_STEPS = 40


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
