"""DRAT's utility gate: how relevant a word must be to a set of anchors (arXiv:2605.13450, Eqs. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np

from creval_association.banks import read_jsonl
from creval_association.lookup import Lookup

__all__ = ["Gate", "Utility", "null_pool"]

_TIE = 1e-9
"""The cosine of a word varies by less than this with the other words in the same product."""

Utility = Literal["max", "min", "mean"]


@cache
def null_pool() -> tuple[str, ...]:
    """Return the paper's "fixed pool of random nouns": its 50 CDAT cues, which reproduce Figure 8 exactly."""
    return tuple(row["cue"] for row in read_jsonl("cdat_cues.jsonl"))


_REDUCE: Mapping[Utility, Callable[..., np.ndarray]] = {"max": np.max, "min": np.min, "mean": np.mean}


@dataclass(frozen=True, slots=True)
class Gate:
    """`utility` says how to aggregate cosines to the anchors; the threshold is the `quantile` (linear interpolation) of
    the utilities of the nouns in `pool`.
    """

    utility: Utility = "max"
    quantile: float = 0.90
    pool: Sequence[str] = field(default_factory=null_pool)

    def utilities(self, words: np.ndarray, anchors: np.ndarray) -> np.ndarray:
        """Return Eq. 6 for unit rows of words (n, d) and anchors (k, d): one utility in [-1, 1] per word."""
        return np.asarray(_REDUCE[self.utility](words @ anchors.T, axis=1))

    def threshold(self, lookup: Lookup, anchors: np.ndarray) -> float:
        """Return the threshold of Eq. 7. Raises ScoringError if a noun of the pool has no vector."""
        return float(np.quantile(self.utilities(lookup.rows(self.pool), anchors), self.quantile))

    def above(self, utilities: np.ndarray, threshold: float) -> np.ndarray:
        """Return which utilities are strictly above the threshold (Eq. 7); ties up to rounding are not."""
        return np.asarray(utilities > threshold + _TIE)
