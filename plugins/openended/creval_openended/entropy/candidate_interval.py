"""Interval of the entropy of one solution: the jackknife over its candidates, with their classes fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Step", "candidate_interval"]

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Step:
    """The usable candidates of one step: their classes and their mean log-probabilities (None if missing)."""

    labels: Sequence[int]
    logprobs: Sequence[float] | None


def candidate_interval(steps: Sequence[Step], value: float, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of `value`, the mean entropy over steps, by leaving out each candidate once (jackknife).

    It is the t interval of the logit between 0 and the highest mean entropy possible for that number of candidates, so
    it contains the entropy itself and no impossible value. It covers only the noise of n candidates, not the bias of
    the entropy of few. The degrees of freedom are Satterthwaite's over steps. None if leaving out a candidate changes
    nothing, for example if all are of one class or all of different ones.
    """
    from scipy.special import expit, stdtrit

    measured = [step for step in steps if len(step.labels) > 1]
    if not measured:
        return None
    highest = float(np.mean([np.log(len(step.labels)) for step in steps]))
    squares = np.array([_square_of_error(step) for step in measured]) / len(steps) ** 2
    total = float(squares.sum())
    if total <= _ROUNDING**2 or not _ROUNDING < value < highest - _ROUNDING:
        return None
    freedom = total**2 / float((squares**2 / [len(step.labels) - 1 for step in measured]).sum())
    share = value / highest
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * np.sqrt(total) / highest / (share * (1 - share))
    place = np.log(share / (1 - share))
    return float(highest * expit(place - reach)), float(highest * expit(place + reach))


def _square_of_error(step: Step) -> float:
    """Return the jackknife variance of a step's entropy."""
    left = _without_each(step)
    return float((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())


def _without_each(step: Step) -> np.ndarray:
    """Return the entropy of a step without each of its candidates in turn; shape (candidates,)."""
    size = len(step.labels)
    weights = np.ones(size) if step.logprobs is None else np.exp(np.asarray(step.logprobs) - max(step.logprobs))
    member = weights[:, None] * (np.asarray(step.labels)[:, None] == np.unique(step.labels))
    sums = (member.sum(axis=0) - member).clip(0.0)
    whole = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))
