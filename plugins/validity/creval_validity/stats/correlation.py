"""Validity and specificity: Pearson's r and the semi-partial r, with tests and intervals.

Source: arXiv:2605.13450, Section 2.4. The p-value is two-sided from
t = r sqrt((n - 2 - k) / (1 - r^2)) with n - 2 - k degrees of freedom, k the number of controls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from creval.plugin import UsageError
from creval_validity.stats.sample import FloatArray, PairedSample, residual

__all__ = ["Correlation", "Interval", "coupling", "fisher_interval", "p_value", "pearson", "specificity", "validity"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval. `draws` counts the bootstrap samples used (0: by formula)."""

    low: float
    high: float
    confidence: float
    method: str
    draws: int = 0


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation over `n` models with `k` controls regressed out of the benchmark.

    `df` is n - 2 - k; `p` is two-sided. `fisher` is exact in large samples for k = 0; for k > 0 it uses
    the variance of a partial correlation and is approximate: compare it with the bootstrap interval.
    """

    r: float
    n: int
    k: int
    df: int
    t: float
    p: float
    fisher: Interval
    bootstrap: Interval | None = None

    @property
    def stars(self) -> str:
        """`*` p < .05, `**` p < .01, `***` p < .001, as in Table 1."""
        return stars(self.p)


def stars(p: float) -> str:
    """Return the stars of a p-value: `*` below .05, `**` below .01, `***` below .001."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Return Pearson's r of two arrays of the same length that both vary; in [-1, 1]."""
    a, b = x - x.mean(), y - y.mean()
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def p_value(r: float, n: int, k: int = 0) -> tuple[float, float]:
    """Return (t, two-sided p) of a correlation with n - 2 - k degrees of freedom (Section 2.4)."""
    from scipy.special import stdtr

    df = n - 2 - k
    if df < 1:
        raise UsageError(f"{n} models and {k} controls leave no degrees of freedom", fix="Add models.")
    if abs(r) >= 1.0:
        return math.copysign(math.inf, r), 0.0
    t = r * math.sqrt(df / (1.0 - r * r))
    return t, float(min(1.0, 2.0 * stdtr(df, -abs(t))))


def fisher_interval(r: float, n: int, k: int = 0, confidence: float = 0.95) -> Interval:
    """Return the interval tanh(atanh(r) +- z / sqrt(n - 3 - k))."""
    from scipy.special import ndtri

    if not 0.0 < confidence < 1.0:
        raise UsageError(f"a confidence of {confidence} is not between 0 and 1", fix="Write 0.95 for 95 %.")
    if n - 3 - k < 1:
        raise UsageError(f"{n} models and {k} controls are too few for Fisher's z", fix="Add models.")
    if abs(r) >= 1.0:
        return Interval(r, r, confidence, "fisher")
    half = float(ndtri(0.5 + confidence / 2)) / math.sqrt(n - 3 - k)
    centre = math.atanh(r)
    return Interval(math.tanh(centre - half), math.tanh(centre + half), confidence, "fisher")


def _correlation(r: float, n: int, k: int, confidence: float) -> Correlation:
    t, p = p_value(r, n, k)
    return Correlation(r=r, n=n, k=k, df=n - 2 - k, t=t, p=p, fisher=fisher_interval(r, n, k, confidence))


def validity(sample: PairedSample, confidence: float = 0.95) -> Correlation:
    """Return r(X, Y), the validity of test X for benchmark Y. Controls are ignored."""
    return _correlation(pearson(sample.x, sample.y), sample.n, 0, confidence)


def specificity(sample: PairedSample, confidence: float = 0.95) -> Correlation:
    """Return r(X, Y - Yhat_g): the correlation of the test with the benchmark's residual after capability g.

    Only the benchmark is residualised, not the test (a semi-partial correlation). Without controls it
    equals the validity.
    """
    left = residual(sample.y, sample.controls, sample.names[1])
    return _correlation(pearson(sample.x, left), sample.n, sample.k, confidence)


def coupling(y: FloatArray, controls: FloatArray, name: str = "y") -> float:
    """Return R = corr(Y, Yhat_g) in [0, 1): how well general capability predicts a benchmark (Theorem 1)."""
    left = residual(y, controls, name)
    centred = y - y.mean()
    return math.sqrt(max(0.0, 1.0 - float(left @ left) / float(centred @ centred)))
