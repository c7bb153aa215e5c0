"""CDAT's appropriateness gate over several models (arXiv:2605.13450, section 3.1; Nakajima et al. 2026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["GateResult", "adjusted", "gated_scores", "judge", "random_appropriateness"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """One model under one condition against random nouns.

    `appropriateness` is the mean over cues, `t` and `p` are Welch's (two-sided; None if a variance is undefined),
    `p_adjusted` is p after Benjamini-Hochberg over the models of the condition. `novelty` is the mean CDAT-N.
    """

    model: str
    condition: str
    cues: int
    appropriateness: float
    t: float | None
    p: float | None
    p_adjusted: float | None
    passed: bool
    novelty: float


def random_appropriateness(cosines: np.ndarray, draws: int, words: int, seed: int) -> np.ndarray:
    """Return 100 times the mean cosine to the cue of `words` different random nouns, `draws` times for each cue.

    `cosines` has one row per cue and one column per noun of the pool. The result has shape (cues * draws,).
    """
    rng = np.random.default_rng(seed)
    rows = []
    for row in cosines:
        picks = np.argsort(rng.random((draws, len(row))), axis=1)[:, :words]
        rows.append(100.0 * row[picks].mean(axis=1))
    return np.concatenate(rows)


def adjusted(values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted by Benjamini-Hochberg; None stays None and does not count as a test."""
    tested = sorted((p, i) for i, p in enumerate(values) if p is not None)
    out: list[float | None] = [None] * len(values)
    lowest = 1.0
    for rank in range(len(tested), 0, -1):
        p, i = tested[rank - 1]
        lowest = min(lowest, p * len(tested) / rank)
        out[i] = lowest
    return out


def judge(
    by_model: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    baseline: np.ndarray,
    condition: str,
    alpha: float = 0.001,
) -> list[GateResult]:
    """Judge all models under one condition.

    `by_model` maps each model to (appropriateness, novelty) per cue. A model passes if its adjusted p is below `alpha`
    and its mean is above that of `baseline`.
    """
    from scipy import stats

    rows = []
    for model, (appropriateness, novelty) in by_model.items():
        test = stats.ttest_ind(appropriateness, baseline, equal_var=False) if len(appropriateness) > 1 else None
        t = None if test is None or not np.isfinite(test.statistic) else float(test.statistic)
        p = None if test is None or not np.isfinite(test.pvalue) else float(test.pvalue)
        rows.append((model, float(np.mean(appropriateness)), t, p, float(np.mean(novelty)), len(appropriateness)))
    corrected = adjusted([row[3] for row in rows])
    centre = float(np.mean(baseline))
    return [
        GateResult(model, condition, cues, mean, t, p, q, q is not None and q < alpha and mean > centre, novelty)
        for (model, mean, t, p, novelty, cues), q in zip(rows, corrected, strict=True)
    ]


def gated_scores(results: Sequence[GateResult]) -> Mapping[str, float | None]:
    """Return CDAT of each model: the mean of CDAT-N over the conditions that it passes; None if it passes none."""
    models = dict.fromkeys(result.model for result in results)
    passed = {model: [r.novelty for r in results if r.model == model and r.passed] for model in models}
    return {model: float(np.mean(values)) if values else None for model, values in passed.items()}
