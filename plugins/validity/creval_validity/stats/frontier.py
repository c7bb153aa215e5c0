"""The validity-specificity frontier: the largest specificity of a test of given validity.

Source: arXiv:2605.13450, Theorem 1 and Appendix A. With R = corr(Y, Yhat_g), Equation 29 bounds the
specificity s of a test of validity v from both sides:

    v sqrt(1 - R^2) - |R| sqrt(1 - v^2)  <=  s  <=  v sqrt(1 - R^2) + |R| sqrt(1 - v^2)

Equation 5 states the upper end as a bound of |s|. This is valid only for v >= 0 (R = 0, v = -1 gives s = -1);
`bound_of_absolute` is valid for every v.

In terms of angles: with v = cos(a) and |R| = sin(b) the ends are cos(a + b) and cos(a - b). So the
frontier reaches 1 at v = sqrt(1 - R^2), and v + s is largest at a = b / 2, with v = s = cos(b / 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from creval.plugin import UsageError

__all__ = ["Frontier"]


@dataclass(frozen=True, slots=True)
class Frontier:
    """The frontier of a benchmark whose coupling to general capability is `coupling` (R, in [-1, 1])."""

    coupling: float

    def __post_init__(self) -> None:
        if not -1.0 <= self.coupling <= 1.0:
            raise UsageError(f"a coupling of {self.coupling} is not a correlation", fix="R lies between -1 and 1.")

    @property
    def free(self) -> float:
        """sqrt(1 - R^2): the specificity of a perfectly valid test."""
        return math.sqrt(1.0 - self.coupling**2)

    def upper(self, v: float) -> float:
        """Return the largest specificity of a test of validity `v`."""
        return self._valid(v) * self.free + abs(self.coupling) * math.sqrt(1.0 - v * v)

    def lower(self, v: float) -> float:
        """Return the smallest (most negative) specificity of a test of validity `v`."""
        return self._valid(v) * self.free - abs(self.coupling) * math.sqrt(1.0 - v * v)

    def bound_of_absolute(self, v: float) -> float:
        """Return the bound of |s|: Equation 5 with |v| instead of v."""
        return self.upper(abs(v))

    @property
    def optimum(self) -> tuple[float, float]:
        """(v*, s*) = argmax(v + s) on the frontier; both are sqrt((1 + sqrt(1 - R^2)) / 2)."""
        best = math.sqrt((1.0 + self.free) / 2.0)
        return best, best

    def distance(self, v: float, s: float) -> float:
        """Return the Euclidean distance of a test at (v, s) to the optimum."""
        best_v, best_s = self.optimum
        return math.hypot(best_v - v, best_s - s)

    def headroom(self, v: float, s: float) -> float:
        """Return how much larger the specificity could be at the same validity: upper(v) - s, at least 0."""
        return max(0.0, self.upper(v) - s)

    @staticmethod
    def _valid(v: float) -> float:
        if not -1.0 <= v <= 1.0:
            raise UsageError(f"a validity of {v} is not a correlation", fix="v lies between -1 and 1.")
        return v
