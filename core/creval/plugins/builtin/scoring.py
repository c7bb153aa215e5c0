"""Scorers and aggregations of the core."""

from __future__ import annotations

from creval.plugins.parameters import flag, integer, number, params, text
from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_scorers(registry)
    _register_aggregations(registry)


def _register_scorers(registry: Registry) -> None:
    matching = params(field=text(1), ignore_case=flag(), ignore_punctuation=flag())
    registry.add(
        "scorer",
        "exact_match",
        "creval.scoring.matching:ExactMatch",
        "1 where the answer is the doc's target",
        parameters=matching,
        positional="field",
        produces=("exact_match",),
    )
    registry.add(
        "scorer",
        "includes",
        "creval.scoring.matching:Includes",
        "1 where the doc's target occurs in the answer",
        parameters=matching,
        positional="field",
        produces=("includes",),
    )
    registry.add(
        "scorer",
        "numeric",
        "creval.scoring.matching:Numeric",
        "1 where the answer is the doc's number within a tolerance",
        parameters=params(field=text(1), absolute=number(0), relative=number(0)),
        positional="field",
        produces=("numeric",),
    )


def _register_aggregations(registry: Registry) -> None:
    registry.add("aggregation", "mean", "creval.scoring.ratio:Mean", "the mean over samples")
    registry.add("aggregation", "median", "creval.scoring.median:Median", "the median over samples")
    registry.add(
        "aggregation",
        "rate",
        "creval.scoring.ratio:Rate",
        "the share of samples whose score is at least a threshold",
        parameters=params(at_least=number()),
        positional="at_least",
    )
    registry.add(
        "aggregation",
        "pass@k",
        "creval.scoring.ratio:PassAtK",
        "the chance that one of k answers to a doc succeeds",
        parameters=params(k=integer(1), at_least=number(), required=("k",)),
        positional="k",
    )
