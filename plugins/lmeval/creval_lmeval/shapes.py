"""Convert lm-eval's value of a document to scores, and an aggregation to an equivalent metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["SLOW", "WEIGHT", "error_form", "metric_form", "scores_of"]

WEIGHT = "weight of "
SLOW = ("bleu", "chrf", "chrf++", "ter")
"""Metrics of a whole corpus, which lm-eval resamples 100 times at most."""
_LOG2 = math.log(2)


def scores_of(name: str, value: Any, aggregation: Callable[..., Any]) -> dict[str, float]:
    """Return the scores of a document. NaN if the value is not a single number.

    For perplexities the score is the loss (in nats, or in bits per byte), next to its weight; for a value that only
    lm-eval's aggregation can read, the aggregation of this one document.
    """
    kind = _kind(aggregation)
    if kind in ("mean", "nanmean"):
        return {name: _number(value)}
    if kind == "perplexity":
        return {name: -_number(value)}
    if kind in ("weighted_perplexity", "bits_per_byte"):
        loss, weight = -float(value[0]), float(value[1])
        return {name: loss / weight / (_LOG2 if kind == "bits_per_byte" else 1.0), WEIGHT + name: weight}
    try:
        return {name: _number(aggregation([value]))}
    except Exception:  # an aggregation that cannot take a single document
        return {name: _number(value) if isinstance(value, int | float | np.number) else 0.0}


def metric_form(name: str, metric: str, task: str, aggregation: Callable[..., Any]) -> dict[str, Any]:
    """Return the metric of creval over those scores that equals lm-eval's number."""
    kind = _kind(aggregation)
    if kind in ("mean", "nanmean"):
        return {}
    if kind == "perplexity":
        return {"aggregate": "perplexity"}
    if kind == "weighted_perplexity":
        return {"aggregate": "perplexity", "weight": WEIGHT + name}
    if kind == "bits_per_byte":
        return {"weight": WEIGHT + name}
    slow = metric in SLOW  # a thousand resamples of a corpus take minutes
    return {"aggregate": {"lmeval": {"task": task, "metric": name}}, **({"ci": "none"} if slow else {})}


def error_form(name: str, task: str, aggregation: Callable[..., Any]) -> dict[str, Any] | None:
    """Return the metric for lm-eval's standard error; None if lm-eval has none."""
    from lm_eval.api.metrics import stderr_for_metric

    if _kind(aggregation) == "mean":
        return {"aggregate": "mean_stderr"}
    if stderr_for_metric(aggregation, 1) is None:
        return None
    return {"aggregate": {"lmeval_stderr": {"task": task, "metric": name}}}


def _kind(aggregation: Callable[..., Any]) -> str:
    """Return the name of an lm-eval aggregation that creval has too, else ""."""
    from lm_eval.api import metrics

    names: Sequence[str] = ("mean", "nanmean", "perplexity", "weighted_perplexity", "bits_per_byte")
    return next((name for name in names if aggregation is getattr(metrics, name, None)), "")


def _number(value: Any) -> float:
    found = (
        value[0] if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and len(value) else value
    )
    if isinstance(found, Mapping) or found is None:
        return math.nan
    try:
        return float(found)
    except (TypeError, ValueError):
        return math.nan
