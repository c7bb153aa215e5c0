"""Control of the false discovery rate over many tests (Benjamini and Hochberg, 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from creval.plugin import UsageError

__all__ = ["benjamini_hochberg"]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return adjusted p-values (q), in the order given.

    A set of results with q <= alpha has an expected share of false discoveries of at most alpha if the
    tests are independent or positively dependent. Raises UsageError for a value outside [0, 1] or NaN.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.size == 0:
        return []
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise UsageError("a p-value is outside 0 to 1", fix="Leave tests without a result out.")
    from statsmodels.stats.multitest import multipletests

    return [float(q) for q in multipletests(p, method="fdr_bh")[1]]
