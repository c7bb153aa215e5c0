"""Validity and specificity of many small tables at once, from their second moments."""

from __future__ import annotations

import numpy as np

from creval_validity.stats.sample import FloatArray

__all__ = ["batch_correlations"]


def batch_correlations(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (validity, specificity) of each table.

    `tables` has shape (d, n, 2 + k): d tables of n models with test, benchmark and k controls in the last
    axis. Both results have shape (d,), NaN if a column does not vary, or if controls are dependent or
    explain the benchmark completely.
    """
    centred = tables - tables.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("dni,dni->di", centred, centred) / tables.shape[1])
    flat = spread <= 1e-10 * np.maximum(np.abs(tables).max(axis=1), 1e-300)
    centred = np.where(flat[:, None, :], 0.0, centred / np.where(flat, 1.0, spread)[:, None, :])
    moments = np.einsum("dni,dnj->dij", centred, centred) / tables.shape[1]
    varies = ~(flat[:, 0] | flat[:, 1])
    valid = _ratio(moments[:, 0, 1], np.ones(len(tables)), varies)
    controls = tables.shape[2] - 2
    if controls == 0:
        return valid, valid.copy()
    inner = moments[:, 2:, 2:]
    usable = varies & (np.linalg.eigvalsh(inner)[:, 0] > 1e-9)
    safe = np.where(usable[:, None, None], inner, np.eye(controls))
    slopes = np.linalg.solve(safe, moments[:, 2:, 1][..., None])[..., 0]
    shared = moments[:, 0, 1] - np.einsum("dk,dk->d", moments[:, 0, 2:], slopes)
    left = 1.0 - np.einsum("dk,dk->d", moments[:, 1, 2:], slopes)
    usable &= left > 1e-10
    return valid, _ratio(shared, left, usable)


def _ratio(top: FloatArray, square: FloatArray, usable: np.ndarray) -> FloatArray:
    out = np.full(len(top), np.nan)
    out[usable] = np.clip(top[usable] / np.sqrt(square[usable]), -1.0, 1.0)
    return out
