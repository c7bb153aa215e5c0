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
    """Folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the scorer and the analysis."""
    registry.add(
        "scorer",
        "creativityprism.ngrams",
        "creval_creativityprism.ngrams:Ngrams",
        "the share of different word sequences of a text",
        parameters=params.schema(longest=params.integer(1, about="the longest word sequences (5)")),
        produces=("ngram_diversity",),
        ranges={"ngram_diversity": (0, 1)},
    )
    registry.add(
        "analysis",
        "creativityprism",
        "creval_creativityprism.dimensions:Dimensions",
        "Quality, novelty and diversity over the tasks of CreativityPrism.",
    )
