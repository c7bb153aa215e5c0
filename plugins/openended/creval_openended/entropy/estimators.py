"""Entropy over classes of meaning, in nats.

Source: paper 004, Eqs. 1 to 3 and Appendix C: the weight of a candidate is exp(its mean token log-probability), weights
are normalised to sum to 1 over the usable candidates, the weight of a class is the sum over its members. `count` gives
all candidates the same weight, for providers without log-probabilities. `naive` is the entropy with every candidate in
a separate class (Figure 1, middle).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Entropies", "class_weights", "entropies", "entropy", "mean_logprob"]

Floats = np.ndarray


def mean_logprob(logprobs: Sequence[float]) -> float:
    """Return the mean of a candidate's token log-probabilities (Appendix C: the length-normalised log P(s))."""
    if not logprobs:
        raise ValueError("a candidate without tokens has no log-probability")
    return float(np.mean(np.asarray(logprobs, dtype=np.float64)))


def class_weights(labels: Sequence[int], logprobs: Sequence[float] | None = None) -> Floats:
    """Return the probability of each class (they sum to 1), from mean log-probabilities or only from counts.

    `labels` number the classes from 0. Weights are computed relative to the largest, so nothing underflows.
    """
    classes = np.asarray(labels, dtype=np.int64)
    if logprobs is None:
        weights = np.ones(len(classes), dtype=np.float64)
    else:
        scores = np.asarray(logprobs, dtype=np.float64)
        weights = np.exp(scores - scores.max())
    sums = np.bincount(classes, weights=weights)
    return np.asarray(sums / sums.sum())


def entropy(weights: Floats) -> float:
    """Return -sum p ln p of a distribution (a class of weight 0 adds nothing); at least 0."""
    positive = weights[weights > 0]
    return float(max(0.0, -(positive * np.log(positive)).sum()))


@dataclass(frozen=True, slots=True)
class Entropies:
    """The measures of one step over its usable candidates.

    `semantic` and `naive` are None without log-probabilities. `count` needs none. `candidates` is m, `classes` the
    number of classes; `relative` is the semantic entropy (or else `count`) over its bound ln m, None for one candidate.
    """

    semantic: float | None
    count: float
    naive: float | None
    candidates: int
    classes: int
    relative: float | None


def entropies(labels: Sequence[int], logprobs: Sequence[float] | None) -> Entropies:
    """Measure one step. `labels` are the classes of its usable candidates (at least one), `logprobs` their
    mean log-probabilities.

    0 <= semantic <= ln classes <= ln m, and naive >= semantic (merging classes never adds entropy).
    """
    if not labels:
        raise ValueError("a step without usable candidates has no entropy")
    count = entropy(class_weights(labels))
    semantic = naive = None
    if logprobs is not None:
        semantic = entropy(class_weights(labels, logprobs))
        naive = entropy(class_weights(range(len(labels)), logprobs))
    bound = float(np.log(len(labels)))
    value = count if semantic is None else semantic
    return Entropies(
        semantic=semantic,
        count=count,
        naive=naive,
        candidates=len(labels),
        classes=len(set(labels)),
        relative=min(1.0, value / bound) if bound > 0 else None,
    )
