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
"""Cosines of one word differ by less than this when they are computed among other words."""

Utility = Literal["max", "min", "mean"]


@cache
def null_pool() -> tuple[str, ...]:
    """The paper's "fixed pool of random nouns": its own 50 CDAT cues. With them Figure 8 comes out exactly."""
    return tuple(row["cue"] for row in read_jsonl("cdat_cues.jsonl"))


_REDUCE: Mapping[Utility, Callable[..., np.ndarray]] = {"max": np.max, "min": np.min, "mean": np.mean}


@dataclass(frozen=True, slots=True)
class Gate:
    """`utility` is how cosines to the anchors become one number, `quantile` which quantile (linear interpolation) of
    the utilities of the nouns in `pool` is the threshold.
    """

    utility: Utility = "max"
    quantile: float = 0.90
    pool: Sequence[str] = field(default_factory=null_pool)

    def utilities(self, words: np.ndarray, anchors: np.ndarray) -> np.ndarray:
        """Eq. 6 for unit rows of words (n, d) and anchors (k, d): one utility in [-1, 1] for each word."""
        return np.asarray(_REDUCE[self.utility](words @ anchors.T, axis=1))

    def threshold(self, lookup: Lookup, anchors: np.ndarray) -> float:
        """Eq. 7. Raises ScoringError if a noun of the pool has no vector."""
        return float(np.quantile(self.utilities(lookup.rows(self.pool), anchors), self.quantile))

    def above(self, utilities: np.ndarray, threshold: float) -> np.ndarray:
        """Return which utilities are above the threshold: strictly (Eq. 7), a tie up to rounding is not."""
        return np.asarray(utilities > threshold + _TIE)
