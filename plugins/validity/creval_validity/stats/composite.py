"""Composite scores: the mean of z-scores over embeddings, as in the block "Overall" of Table 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from creval.plugin import DataError, UsageError
from creval_validity.stats.sample import FloatArray, is_constant

__all__ = ["Gaps", "mean_z", "z_scores"]

Gaps = Literal["exclude", "available"]


def z_scores(values: FloatArray, name: str = "column") -> FloatArray:
    """Standardise over the models that have a value (population standard deviation); gaps stay NaN.

    Raises DataError if fewer than two models have a value, or all values are equal.
    """
    present = values[np.isfinite(values)]
    if len(present) < 2 or is_constant(present):
        raise DataError(f"{name} has no spread over {len(present)} models", fix="Add models that differ on it.")
    return np.asarray((values - present.mean()) / present.std(), dtype=np.float64)


def mean_z(columns: Sequence[FloatArray], names: Sequence[str], gaps: Gaps = "exclude") -> FloatArray:
    """Return each model's mean z-score over columns.

    `gaps`: `exclude` gives NaN to a model with a missing score; `available` averages its available scores,
    so that models are compared on different columns.
    """
    if not columns:
        raise UsageError("a composite needs at least one column", fix="Name the columns to average.")
    stacked = np.vstack([z_scores(values, name) for values, name in zip(columns, names, strict=True)])
    present = np.isfinite(stacked)
    enough = present.all(axis=0) if gaps == "exclude" else present.any(axis=0)
    totals = np.where(present, stacked, 0.0).sum(axis=0)
    return np.where(enough, totals / np.maximum(present.sum(axis=0), 1), np.nan)
