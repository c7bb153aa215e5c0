"""A straight line through points, with the error of its slope."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
        """Return the line's height at x."""
        return self.intercept + self.slope * x


def fit_line(x: FloatArray, y: FloatArray, name: str = "y", confidence: float = 0.95) -> Line:
    """Fit a line. Raises DataError for fewer than four points or points at one x only."""
    from scipy.special import stdtr, stdtrit

    if not 0.0 < confidence < 1.0:
        raise UsageError(f"a confidence of {confidence} is not between 0 and 1", cure="Write 0.95 for 95 %.")
    n = len(x)
    if n < 4:
        raise DataError(f"{name}: {n} points are too few for a trend; 4 are needed", cure="Add models with dates.")
    if is_constant(x):
        raise DataError(f"{name}: all {n} models have one date", cure="Add models of other dates.")
    dx, dy = x - x.mean(), y - y.mean()
    sxx, sxy, syy = float(dx @ dx), float(dx @ dy), float(dy @ dy)
    slope = sxy / sxx
    left = max(0.0, syy - slope * sxy)
    error = math.sqrt(left / (n - 2) / sxx)
    half = float(stdtrit(n - 2, 0.5 + confidence / 2)) * error
    p = float(2.0 * stdtr(n - 2, -abs(slope) / error)) if error > 0 else (0.0 if slope else 1.0)
    return Line(
        slope=slope,
        intercept=float(y.mean()) - slope * float(x.mean()),
        standard_error=error,
        low=slope - half,
        high=slope + half,
        p=p,
        r=sxy / math.sqrt(sxx * syy) if syy > 0 else 0.0,
        n=n,
        confidence=confidence,
    )
