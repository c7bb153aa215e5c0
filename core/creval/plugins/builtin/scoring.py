"""Scorers and aggregations of the core."""

from __future__ import annotations

from typing import Any

from creval.plugins.registry import Registry

__all__ = ["register"]

_FLAG = {"type": "boolean"}
_FIELD = {"type": "string", "minLength": 1}
_THRESHOLD = {"type": "number"}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": list(required)}


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_scorers(registry)
    _register_aggregations(registry)


def _register_scorers(registry: Registry) -> None:
    text = {"field": _FIELD, "ignore_case": _FLAG, "ignore_punctuation": _FLAG}
    registry.add(
        "scorer",
        "exact_match",
        "creval.scoring.matching:ExactMatch",
        "1 where the answer is the doc's target",
        parameters=_object(text),
        positional="field",
        produces=("exact_match",),
    )
    registry.add(
        "scorer",
        "includes",
        "creval.scoring.matching:Includes",
        "1 where the doc's target occurs in the answer",
        parameters=_object(text),
        positional="field",
        produces=("includes",),
    )
    tolerance = {"type": "number", "minimum": 0}
    registry.add(
        "scorer",
        "numeric",
        "creval.scoring.matching:Numeric",
        "1 where the answer is the doc's number within a tolerance",
        parameters=_object({"field": _FIELD, "absolute": tolerance, "relative": tolerance}),
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
        parameters=_object({"at_least": _THRESHOLD}),
        positional="at_least",
    )
    registry.add(
        "aggregation",
        "pass@k",
        "creval.scoring.ratio:PassAtK",
        "the chance that one of k answers to a doc succeeds",
        parameters=_object({"k": {"type": "integer", "minimum": 1}, "at_least": _THRESHOLD}, "k"),
        positional="k",
    )
