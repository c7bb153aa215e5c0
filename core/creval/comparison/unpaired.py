"""The difference where every try stands for itself: runs whose docs are asked many times, with nothing to pair."""

from __future__ import annotations

import math

import numpy as np

from creval.comparison.paired import Difference, Interval
from creval.comparison.significance import permutation_test
from creval.scoring.clusters import Clusters, Floats
from creval.scoring.estimate import CONFIDENCE
from creval.types.components import Aggregation

__all__ = ["compare_trials"]

_POWER = 0.8


def compare_trials(
    aggregation: Aggregation, one: Clusters, other: Clusters, method: str = "auto", seed: int = 0
) -> Difference:
    """Compare two samples of trials: Welch's interval, and the permutation test of which run a trial belongs to.

    Welch (1947, Biometrika 34, 28-35). An aggregation without a standard error has no interval here.
    """
    counts = len(one), len(other)
    numbers = [aggregation.value(side) if len(side) else None for side in (one, other)]
    first, second = numbers
    if first is None or second is None:
        return Difference(min(counts), first, second, None, no_interval="one side has no value")
    value = second - first
    if min(counts) < 2:
        return Difference(min(counts), first, second, value, no_interval="there is one trial only")
    p_value = permutation_test(aggregation, one, other, seed)
    errors = [aggregation.standard_error(side) for side in (one, other)]
    known = Difference(min(counts), first, second, value, p_value=p_value, test="permutation")
    if None in errors:
        return known._replace(no_interval="the aggregation has no standard error")
    error, freedom = _welch([float(each or 0.0) for each in errors], counts)
    if error == 0 or method == "none":
        return known._replace(no_interval=None if method == "none" else "nothing varies between the trials")
    from scipy.special import nctdtrinc, stdtr, stdtrit

    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    least = float(nctdtrinc(freedom, 1 - _POWER, reach)) * error
    interval = Interval(
        (value - reach * error, value + reach * error), "welch", 2.0 * float(stdtr(freedom, -abs(value) / error))
    )
    return interval.joined(known._replace(detectable=least))


def _welch(errors: list[float], counts: tuple[int, int]) -> tuple[float, float]:
    """The standard error of the difference and its degrees of freedom (Welch and Satterthwaite)."""
    squares: Floats = np.square(np.array(errors))
    total = float(squares.sum())
    if total == 0:
        return 0.0, 1.0
    below = sum(square**2 / (count - 1) for square, count in zip(squares, counts, strict=True))
    return math.sqrt(total), total**2 / float(below)
