"""How sure the entropy of one solution is: candidates drawn anew, with their classes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["REPLICATES", "Step", "candidate_interval"]

REPLICATES = 200


@dataclass(frozen=True, slots=True)
class Step:
    """The usable candidates of one step: their classes and their mean log-probabilities (None: there are none)."""

    labels: Sequence[int]
    logprobs: Sequence[float] | None


def candidate_interval(steps: Sequence[Step], seed: int, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the percentile interval of the mean entropy over steps, each step's candidates drawn with replacement.

    It tells the noise of n candidates alone; a resample holds fewer different candidates, so it lies low. The interval
    over problems stands beside the metric. None without a step.
    """
    if not steps:
        return None
    random = np.random.default_rng(seed)
    means = np.mean([_redrawn(step, random) for step in steps], axis=0)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _redrawn(step: Step, random: np.random.Generator) -> np.ndarray:
    """Return the entropies of all resamples of one step at once; shape (REPLICATES,)."""
    size = len(step.labels)
    drawn = random.integers(0, size, size=(REPLICATES, size))
    weights = np.ones(size) if step.logprobs is None else np.exp(np.asarray(step.logprobs) - max(step.logprobs))
    member = np.asarray(step.labels)[:, None] == np.arange(max(step.labels) + 1)  # which candidate is in which class
    sums = (weights[:, None] * member)[drawn].sum(axis=1)
    shares = sums / sums.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(np.maximum(0.0, -(shares * logs).sum(axis=1)))
