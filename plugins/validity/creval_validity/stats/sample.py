"""The validated data of one correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from creval.plugin import DataError

if TYPE_CHECKING:
    from statsmodels.regression.linear_model import RegressionResults

__all__ = ["FloatArray", "PairedSample", "is_constant", "least_squares", "residual"]

FloatArray = NDArray[np.float64]
_TINY = 1e-10
_DEPENDENT = 1e-8


@dataclass(frozen=True)
class PairedSample:
    """Scores of n models on a test `x`, a benchmark `y` and k capability measures `controls` (n by k).

    Raises DataError if lengths differ, a value is not finite, a column does not vary, or n is below
    k + 4 (with fewer, Fisher's z interval is undefined). `names` are only for messages.
    """

    x: FloatArray
    y: FloatArray
    controls: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    names: tuple[str, str] = ("x", "y")

    def __post_init__(self) -> None:
        if self.controls.size == 0:
            object.__setattr__(self, "controls", np.empty((len(self.x), 0)))
        if not len(self.x) == len(self.y) == len(self.controls):
            raise DataError(f"{self._what}: {len(self.x)}, {len(self.y)} and {len(self.controls)} values do not pair")
        if self.n < self.k + 4:
            need = f"{self.k + 4} models are needed" + (f" with {self.k} controls" if self.k else "")
            raise DataError(
                f"{self._what}: {self.n} models have every score; {need}", fix="Add models, or drop a control."
            )
        for name, values in ((self.names[0], self.x), (self.names[1], self.y)):
            if not np.isfinite(values).all():
                raise DataError(f"{name} holds a value that is not finite", fix="Leave models with gaps out.")
            if is_constant(values):
                raise DataError(
                    f"{name} is the same for all {self.n} models of {self._what}; it correlates with nothing",
                    fix="Add models that differ on it.",
                )
        if not np.isfinite(self.controls).all():
            raise DataError(f"{self._what}: a control holds a value that is not finite")

    @property
    def n(self) -> int:
        """Number of models."""
        return len(self.x)

    @property
    def k(self) -> int:
        """Number of controls."""
        return int(self.controls.shape[1])

    @property
    def _what(self) -> str:
        return f"{self.names[0]} and {self.names[1]}"

    def without_controls(self) -> PairedSample:
        """Return the same models without their capability measures."""
        return PairedSample(self.x, self.y, names=self.names)


def is_constant(values: FloatArray) -> bool:
    """Return whether values differ by no more than rounding error."""
    scale = float(np.abs(values).max(initial=0.0))
    return bool(np.ptp(values) <= _TINY * max(scale, 1e-300))


def residual(target: FloatArray, predictors: Sequence[FloatArray] | FloatArray, name: str = "y") -> FloatArray:
    """Return `target` minus its least-squares prediction from `predictors` (n by k) and a constant.

    Raises DataError if the predictors are linearly dependent on these models, or explain the target completely.
    """
    columns = np.asarray(predictors, dtype=np.float64)
    centred = target - target.mean()
    if columns.shape[1] == 0:
        return np.asarray(centred, dtype=np.float64)
    result = least_squares(target, columns)
    if result is None:
        raise DataError(
            f"the controls of {name} are linearly dependent on these {len(target)} models",
            fix="Drop one of the controls, or add models.",
        )
    left = np.asarray(result.resid, dtype=np.float64)
    if float(left @ left) <= _TINY * float(centred @ centred):
        raise DataError(
            f"the controls predict {name} perfectly: nothing is left for a test to predict",
            fix="Leave out the control that is the benchmark itself.",
        )
    return np.asarray(left - left.mean(), dtype=np.float64)


def standardised(columns: FloatArray) -> FloatArray:
    """Return columns with mean 0 and unit variance; a constant column becomes 0."""
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    scale = np.abs(columns).max(axis=0, initial=1e-300)
    flat = spread <= _TINY * scale
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, spread))


def least_squares(target: FloatArray, predictors: FloatArray) -> RegressionResults | None:
    """Return the fit of `target` (n) on standardised `predictors` (n by k) and a constant.

    None if the predictors are linearly dependent on these models. Standardising changes neither R squared, the
    tests nor the residuals, and avoids treating columns of very different scales as dependent.
    """
    from statsmodels.regression.linear_model import OLS

    design = standardised(predictors)
    smallest = np.linalg.svd(design, compute_uv=False)[-1] if len(design) >= design.shape[1] else 0.0
    if smallest <= _DEPENDENT * math.sqrt(len(design)):
        return None
    return OLS(target, np.column_stack([np.ones(len(target)), design])).fit()
