"""Scorers and aggregations of the core."""

from __future__ import annotations

from typing import Any

from creval.plugins.registry import Registry

__all__ = ["register"]

_FIELD = {"type": "string", "minLength": 1}
_SMALL = {"type": "number", "minimum": 0}
_FLAG = {"type": "boolean"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_scorers(registry)
    home = "creval.scoring.aggregations"
    registry.add("aggregation", "mean", f"{home}:Mean", "mean of all values")
    registry.add("aggregation", "median", f"{home}:Median", "median of all values")
    registry.add(
        "aggregation",
        "rate",
        f"{home}:Rate",
        "share of values above a threshold (default 0)",
        parameters=_object(threshold={"type": "number"}),
        positional="threshold",
    )
    registry.add(
        "aggregation",
        "pass@k",
        f"{home}:PassAtK",
        "chance that at least one of k repeats is right",
        parameters=_object(k={"type": "integer", "minimum": 1}),
        positional="k",
    )


def _register_scorers(registry: Registry) -> None:
    home = "creval.scoring.matching"
    registry.add(
        "scorer",
        "exact_match",
        f"{home}:ExactMatch",
        "1 where the answer equals a field of the doc",
        parameters=_object(target=_FIELD, ignore_case=_FLAG, strip=_FLAG),
        positional="target",
        produces=("exact_match",),
    )
    registry.add(
        "scorer",
        "includes",
        f"{home}:Includes",
        "1 where a field of the doc stands in the answer",
        parameters=_object(target=_FIELD, ignore_case=_FLAG),
        positional="target",
        produces=("includes",),
    )
    registry.add(
        "scorer",
        "numeric",
        f"{home}:Numeric",
        "1 where the answer is a number near a field of the doc",
        parameters=_object(target=_FIELD, tolerance=_SMALL, relative=_SMALL),
        positional="target",
        produces=("numeric",),
    )
