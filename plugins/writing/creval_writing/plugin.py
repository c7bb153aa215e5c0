"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_tasks"]


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the aggregation and the analysis."""
    registry.add(
        "aggregation",
        "writing.strength",
        "creval_writing.aggregation:Strength",
        "Bradley-Terry strength among the writers of a pool, in log-odds",
        parameters=params.schema(
            scores=params.list_of(params.text(1), minimum=1, about="the shares of pairs won, one score per writer"),
            required=("scores",),
        ),
    )
    registry.add(
        "analysis",
        "writing-ranking",
        "creval_writing.ranking:Ranking",
        "Models and the pool of writers on one scale, by Bradley-Terry.",
    )
