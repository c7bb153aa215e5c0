"""Intervals of the difference of two runs."""

from __future__ import annotations

import numpy as np

from creval.plugin import Aggregation
from creval.plugin.comparing import Clusters, Scale, least_defined, resampled, transformed_interval

__all__ = ["bootstrap_difference", "difference_interval"]


def difference_interval(centre: float, error: float, reach: float, scale: Scale) -> tuple[float, float]:
    """Return centre -+ reach * error for a difference of two numbers on a scale.

    If an end is beyond the possible differences, it is replaced by that of the logit's interval between the bounds.
    """
    low, high = centre - reach * error, centre + reach * error
    if scale.low is None or scale.high is None or max(-low, high) <= scale.high - scale.low:
        return low, high
    most = scale.high - scale.low
    within = transformed_interval(centre, error, reach, -most, most)
    return (low if low >= -most else float(within[0])), (high if high <= most else float(within[1]))


def bootstrap_difference(
    aggregation: Aggregation, sides: tuple[Clusters, Clusters], seed: int, confidence: float
) -> tuple[float, float, float] | None:
    """Return the percentile interval of second minus first, and the p-value of the corresponding test against 0.

    A drawn doc contributes both its values. `sides` hold the same docs in the same order. Returns None if the metric is
    undefined in too many resamples.
    """
    one, other = (resampled(aggregation, side, seed) for side in sides)
    with np.errstate(invalid="ignore"):  # two ratios by 0
        moved = other - one
    known = np.sort(moved[np.isfinite(moved)])
    if len(known) < least_defined(len(moved), confidence):
        return None
    place = int((1 - confidence) / 2 * (len(known) + 1)) - 1
    if place < 0:
        return None
    beyond = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return float(known[place]), float(known[-1 - place]), min(1.0, 2 * (beyond + 1) / (len(known) + 1))
