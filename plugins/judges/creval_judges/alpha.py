"""Agreement between several raters of the same units: Krippendorff's alpha with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["agreement_of", "alpha_interval", "krippendorff_alpha"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
_FEWEST = 5  # with fewer docs, percentiles are meaningless
_RESAMPLES = 1_000


def agreement_of(
    raters: Sequence[Sequence[float] | Floats], level: str, docs: Sequence[int] | np.ndarray[Any, Any], seed: int
) -> Mapping[str, Any]:
    """Return alpha, its interval, and the numbers of samples and verdicts, as results.json has them."""
    alpha, samples, verdicts = krippendorff_alpha(raters, level)
    low, high = alpha_interval(raters, level, docs, seed) or (None, None)
    return {"alpha": alpha, "ci_low": low, "ci_high": high, "samples": samples, "verdicts": verdicts}


def krippendorff_alpha(raters: Sequence[Sequence[float] | Floats], level: str) -> tuple[float | None, int, int]:
    """Return (alpha, units, ratings) of `raters`, each with its rating of every unit (NaN: none).

    `level` is the difference of two ratings: `nominal` (equal or not), `ordinal` (ranks between them), `interval`
    (squared). Alpha is 1 for full agreement, 0 for chance; None if all ratings are equal. Units with a single rating do
    not count. After Krippendorff, Computing Krippendorff's Alpha-Reliability (2011).
    """
    table = _Ratings.of(raters)
    alpha = table.alpha(np.ones(len(table.counts)), level) if len(table.values) else None
    return alpha, len(table.counts), int(table.counts.sum())


def alpha_interval(
    raters: Sequence[Sequence[float] | Floats], level: str, docs: Sequence[int] | np.ndarray[Any, Any], seed: int
) -> tuple[float, float] | None:
    """Return the 95 % interval of Krippendorff's alpha: percentiles over 1,000 resamples of whole docs.

    `docs` has the doc of every unit. None with fewer than 5 docs that are rated twice, and if alpha is undefined.
    """
    table = _Ratings.of(raters)
    _, places = np.unique(np.asarray(docs)[table.kept], return_inverse=True)
    count = int(places.max()) + 1 if len(places) else 0
    if count < _FEWEST:
        return None
    random = np.random.default_rng(seed)
    draws = (np.bincount(random.integers(0, count, count), minlength=count)[places] for _ in range(_RESAMPLES))
    found = [alpha for weights in draws if (alpha := table.alpha(weights, level)) is not None]
    if not found:
        return None
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


class _Ratings(NamedTuple):
    """The counts of each of the `values` for each unit with at least two ratings; `kept` marks these units."""

    values: Floats
    counts: Floats
    kept: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def of(cls, raters: Sequence[Sequence[float] | Floats]) -> _Ratings:
        ratings = np.asarray(raters, dtype=np.float64).T
        kept = (~np.isnan(ratings)).sum(axis=1) > 1
        ratings = ratings[kept]
        rated = ~np.isnan(ratings)
        values, places = np.unique(ratings[rated], return_inverse=True)
        counts = np.zeros((len(ratings), values.size))
        np.add.at(counts, (np.nonzero(rated)[0], places), 1.0)
        return cls(values, counts, kept)

    def alpha(self, times: np.ndarray[Any, Any], level: str) -> float | None:
        """Return alpha with each unit counted `times` times; None if all ratings are equal."""
        weighted = self.counts * (times / (self.counts.sum(axis=1) - 1.0))[:, None]
        coincidences = weighted.T @ self.counts - np.diag(weighted.sum(axis=0))
        totals = coincidences.sum(axis=1)
        whole = totals.sum()
        distances = _distances(self.values, totals, level)
        expected = float((np.outer(totals, totals) * distances).sum() / (whole - 1.0))
        return 1.0 - float((coincidences * distances).sum()) / expected if expected > 0 else None


def _distances(values: Floats, totals: Floats, level: str) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(values.size)
    if level == "ordinal":
        values = np.cumsum(totals) - totals / 2.0  # their mean ranks
    return np.square(np.subtract.outer(values, values))
