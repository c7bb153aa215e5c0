"""Registers the plugin's two analyses and command. Nothing is imported until it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register `creval analyse validity` and `creval analyse trend`."""
    registry.add(
        "analysis",
        "validity",
        "creval_validity.analyses.validity_command:ValidityAnalysis",
        "Which test predicts which benchmark, beyond general capability.",
    )
    registry.add(
        "analysis",
        "trend",
        "creval_validity.analyses.trend_command:TrendAnalysis",
        "Construct scores against release dates, with the regression line.",
    )


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the command `creval validity reproduce`."""
    return {"reproduce": "creval_validity.reproduce_command:reproduce"}
