"""Nested regressions: whether one test improves the prediction by others (arXiv:2605.13450, Section 4.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from creval.plugin import DataError
from creval_validity.stats.sample import FloatArray, is_constant, least_squares

__all__ = ["Fit", "NestedComparison", "compare_nested", "fit"]


_PERFECT = 1e-14  # residual shares of variance below this are rounding error


@dataclass(frozen=True, slots=True)
class Fit:
    """A least-squares fit with a constant. `f` and `p` test all slopes at once (df1 = k, df2 = n - k - 1)."""

    n: int
    k: int
    r2: float
    adjusted_r2: float
    f: float
    df1: int
    df2: int
    p: float


@dataclass(frozen=True, slots=True)
class NestedComparison:
    """The gain from `added` predictors beyond `base` predictors, on the same models.

    F = (delta R^2 / df1) / ((1 - R^2 of the larger model) / df2), df1 the number of added predictors,
    df2 = n - all predictors - 1.
    """

    target: str
    base_names: tuple[str, ...]
    added_names: tuple[str, ...]
    n: int
    base: Fit
    full: Fit
    delta_r2: float
    f: float
    df1: int
    df2: int
    p: float


def fit(y: FloatArray, predictors: FloatArray, name: str = "y") -> Fit:
    """Fit `y` on `predictors` (n by k, k >= 1) and a constant.

    Raises DataError if models are too few (n < k + 2), `y` does not vary, or the predictors are linearly
    dependent.
    """
    n, k = predictors.shape
    df2 = n - k - 1
    if df2 < 1:
        raise DataError(f"{name}: {n} models are too few for {k} predictors", fix="Add models or drop a predictor.")
    if is_constant(y):
        raise DataError(f"{name} is the same for all {n} models", fix="Add models that differ on it.")
    result = least_squares(y, predictors)
    if result is None:
        raise DataError(f"{name}: the predictors are linearly dependent on these {n} models", fix="Drop one of them.")
    r2 = min(1.0, max(0.0, float(result.rsquared)))
    perfect = 1.0 - r2 <= _PERFECT
    return Fit(
        n=n,
        k=k,
        r2=r2,
        adjusted_r2=float(result.rsquared_adj),
        f=math.inf if perfect else float(result.fvalue),
        df1=k,
        df2=df2,
        p=0.0 if perfect else float(result.f_pvalue),
    )


def compare_nested(
    target: tuple[str, FloatArray], base: dict[str, FloatArray], added: dict[str, FloatArray]
) -> NestedComparison:
    """Compare the regression of a target on `base` with that on `base` and `added`."""
    name, y = target
    if not base or not added:
        raise DataError(f"{name}: a nested comparison needs a base and something added", fix="Name both.")
    repeated = sorted(set(base) & set(added))
    if repeated:
        raise DataError(f"{name}: {', '.join(repeated)} cannot be both base and added", fix="Name it once.")
    small = fit(y, np.column_stack(list(base.values())), name)
    large = fit(y, np.column_stack([*base.values(), *added.values()]), name)
    gain = max(0.0, large.r2 - small.r2)
    f, p = _f_test(gain, 1.0 - large.r2, len(added), large.df2)
    return NestedComparison(
        target=name,
        base_names=tuple(base),
        added_names=tuple(added),
        n=small.n,
        base=small,
        full=large,
        delta_r2=gain,
        f=f,
        df1=len(added),
        df2=large.df2,
        p=p,
    )


def _f_test(gained: float, left: float, df1: int, df2: int) -> tuple[float, float]:
    from scipy.stats import f as f_distribution

    if left <= _PERFECT:
        return math.inf, 0.0
    ratio = (gained / df1) / (left / df2)
    return ratio, float(f_distribution.sf(ratio, df1, df2))
