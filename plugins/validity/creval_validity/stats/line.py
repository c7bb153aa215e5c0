"""Least-squares line through points, with the interval of its slope."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from creval.plugin import DataError, UsageError
from creval_validity.stats.sample import FloatArray, is_constant

__all__ = ["Line", "fit_line"]


@dataclass(frozen=True, slots=True)
class Line:
    """y = intercept + slope x by least squares over n points; `low` and `high` bound the slope (t, n - 2 df)."""

    slope: float
    intercept: float
    standard_error: float
    low: float
    high: float
    p: float
    r: float
    n: int
    confidence: float

    def at(self, x: float) -> float:
        """Return the line's value at x."""
        return self.intercept + self.slope * x


def fit_line(x: FloatArray, y: FloatArray, name: str = "y", confidence: float = 0.95) -> Line:
    """Fit a line. Raises DataError for fewer than four points, or if all x are equal."""
    from statsmodels.regression.linear_model import OLS

    if not 0.0 < confidence < 1.0:
        raise UsageError(f"a confidence of {confidence} is not between 0 and 1", fix="Write 0.95 for 95 %.")
    n = len(x)
    if n < 4:
        raise DataError(f"{name}: {n} points are too few for a trend; 4 are needed", fix="Add models with dates.")
    if is_constant(x):
        raise DataError(f"{name}: all {n} models have one date", fix="Add models of other dates.")
    centre = float(x.mean())  # centred, since days since year 0 would lose precision
    result = OLS(y, np.column_stack([np.ones(n), x - centre])).fit()
    slope, error = float(result.params[1]), float(result.bse[1])
    low, high = (float(end) for end in result.conf_int(1.0 - confidence)[1])
    varies = not is_constant(y)
    return Line(
        slope=slope,
        intercept=float(result.params[0]) - slope * centre,
        standard_error=error,
        low=low,
        high=high,
        p=float(result.pvalues[1]) if varies else 1.0,
        r=math.copysign(math.sqrt(max(0.0, float(result.rsquared))), slope) if varies else 0.0,
        n=n,
        confidence=confidence,
    )
