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
    """Register a source, a parser, two aggregations and a baseline."""
    registry.add(
        "source",
        "liveideabench",
        "creval_ideas.published:open_keywords",
        "the keywords and the wording of LiveIdeaBench, out of its authors' repository",
        parameters=params.schema(url=params.text(about="where the repository's files are served"), remote=True),
    )
    registry.add(
        "parser",
        "ideas.idea",
        "creval_ideas.idea:Idea",
        "an idea that is neither too short nor too long",
        parameters=params.schema(
            over=params.integer(0, about="it has more characters than this (100)"),
            below=params.integer(1, about="and fewer than this (2,500)"),
            words=params.integer(1, about="and fewer words than this (200)"),
        ),
    )
    scores = params.list_of(params.text(1), minimum=1, about="the scores of an idea that are averaged")
    quantile = params.number(0, 1, about="which quantile of the averages (0.3)")
    for name, made, what in (
        ("flexibility", "Flexibility", "the 30th percentile of the mean scores of single ideas"),
        ("average", "Average", "the mean of the scores' means and of the flexibility"),
    ):
        registry.add(
            "aggregation",
            f"ideas.{name}",
            f"creval_ideas.aggregation:{made}",
            what,
            parameters=params.schema(scores=scores, quantile=quantile),
        )
    registry.add("baseline", "written_ideas", "creval_ideas.baselines:WrittenIdeas", "the ideas that the doc holds")
