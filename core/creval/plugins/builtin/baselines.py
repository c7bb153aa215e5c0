"""Baselines of the core: what tasks without code name as floor and ceiling."""

from __future__ import annotations

from creval.plugins import parameters as params
from creval.plugins.registry import Registry

__all__ = ["register"]

_HOME = "creval.models.local.simple_baselines"


def register(registry: Registry) -> None:
    """Add them to the registry."""
    form = params.text(1, about="how the answer is written: a template over the doc's fields and `answer`")
    registry.add(
        "baseline",
        "fixed",
        f"{_HOME}:Fixed",
        "the same answer to every doc",
        parameters=params.schema(text=params.text(1), required=("text",)),
        positional="text",
    )
    registry.add(
        "baseline",
        "target",
        f"{_HOME}:Target",
        "the doc's target",
        parameters=params.schema(field=params.text(1), form=form),
        positional="field",
    )
    registry.add(
        "baseline",
        "one_of",
        f"{_HOME}:OneOf",
        "one item of a field of the doc, at random (letters)",
        parameters=params.schema(field=params.text(1), form=form),
        positional="field",
    )
