"""The difference where every try counts for itself: runs whose docs are asked many times, with nothing to pair."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from creval.plugin import Aggregation
from creval.plugin.comparing import ANY, CONFIDENCE, Clusters, Floats, Scale
from creval_compare.difference_intervals import difference_interval
from creval_compare.paired import POWER, Difference, Interval, Spread, within_scale
from creval_compare.significance import permutation_test

__all__ = ["compare_trials", "trial_spread", "welch"]


def compare_trials(
    aggregation: Aggregation, sides: tuple[Clusters, Clusters], scale: Scale = ANY, method: str = "auto", seed: int = 0
) -> Difference:
    """Compare two samples of trials: Welch's interval, and the permutation test of which run a trial belongs to.

    Welch (1947, Biometrika 34, 28-35). An aggregation without a standard error has no interval here.
    """
    counts = len(sides[0]), len(sides[1])
    numbers = [aggregation.value(side) if len(side) else None for side in sides]
    first, second = numbers
    if first is None or second is None:
        return Difference(min(counts), first, second, None, no_interval="one side has no value")
    value = second - first
    if min(counts) < 2:
        return Difference(min(counts), first, second, value, no_interval="there is one trial only")
    p_value = permutation_test(aggregation, *sides, seed)
    errors = [aggregation.standard_error(side) for side in sides]
    known = Difference(min(counts), first, second, value, p_value=p_value, test="permutation")
    if None in errors:
        return known._replace(no_interval="the aggregation has no standard error")
    error, freedom = welch([float(each or 0.0) for each in errors], counts)
    if error == 0 or method == "none":
        return known._replace(no_interval=None if method == "none" else "nothing varies between the trials")
    from scipy.special import nctdtrinc, stdtr, stdtrit

    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    least = float(nctdtrinc(freedom, 1 - POWER, reach)) * error
    ends = difference_interval(value, error, reach, scale.of(aggregation))
    interval = Interval(ends, "welch", 2.0 * float(stdtr(freedom, -abs(value) / error)))
    return interval.joined(known._replace(detectable=within_scale(least, scale.of(aggregation))))


def trial_spread(aggregation: Aggregation, sides: tuple[Clusters, Clusters]) -> Spread | None:
    """Return the spread of the difference of two samples of trials; None without a value or standard error."""
    if min(map(len, sides)) < 2:
        return None
    first, second = (aggregation.value(side) for side in sides)
    errors = [aggregation.standard_error(side) for side in sides]
    if first is None or second is None or None in errors:
        return None
    error, freedom = welch([float(each or 0.0) for each in errors], [len(side) for side in sides])
    return Spread(second - first, error, freedom)


def welch(errors: Sequence[float], counts: Sequence[float]) -> tuple[float, float]:
    """Return the standard error of a difference or sum and its degrees of freedom (Welch and Satterthwaite)."""
    squares: Floats = np.square(np.array(errors))
    total = float(squares.sum())
    if total == 0:
        return 0.0, 1.0
    below = sum(square**2 / (count - 1) for square, count in zip(squares, counts, strict=True))
    return math.sqrt(total), total**2 / float(below)
