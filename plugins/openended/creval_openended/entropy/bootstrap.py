"""How sure the entropy of one solution is: candidates drawn anew, with their classes as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from creval_openended.entropy.estimators import entropies

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
    means = [float(np.mean([_redrawn(step, random) for step in steps])) for _ in range(REPLICATES)]
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _redrawn(step: Step, random: np.random.Generator) -> float:
    chosen = random.integers(0, len(step.labels), size=len(step.labels))
    labels = [step.labels[i] for i in chosen]
    logprobs = None if step.logprobs is None else [step.logprobs[i] for i in chosen]
    found = entropies(labels, logprobs)
    return found.count if found.semantic is None else found.semantic
