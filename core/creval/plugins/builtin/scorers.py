"""Scorers and aggregations of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.plugins import parameters as params
from creval.plugins.registry import BINARY, Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_scorers(registry)
    _register_aggregations(registry)


def _register_scorers(registry: Registry) -> None:
    reduce = params.one_of("mean", "best", "majority", about="how several answers of a sample are combined")
    empty = params.flag(about="whether a target may be empty")
    matching = params.schema(
        field=params.text(1),
        ignore_case=params.flag(),
        ignore_punctuation=params.flag(),
        normalize=params.one_of("squad", "none", about="how both texts are normalized before they are compared"),
        empty=empty,
        reduce=reduce,
    )
    registry.add(
        "scorer",
        "exact_match",
        "creval.scoring.matching:ExactMatch",
        "1 if the answer is the doc's target",
        parameters=matching,
        positional="field",
        produces=("exact_match",),
        ranges={"exact_match": BINARY},
        takes=("text", "number"),
        reads_some=_reads_some,
    )
    registry.add(
        "scorer",
        "includes",
        "creval.scoring.matching:Includes",
        "1 if the doc's target occurs in the answer",
        parameters=matching,
        positional="field",
        produces=("includes",),
        ranges={"includes": BINARY},
        takes=("text", "number"),
        reads_some=_reads_some,
    )
    registry.add(
        "scorer",
        "numeric",
        "creval.scoring.matching:Numeric",
        "1 if the answer is the doc's number within a tolerance",
        parameters=params.schema(
            field=params.text(1), absolute=params.number(0), relative=params.number(0), reduce=reduce
        ),
        positional="field",
        produces=("numeric",),
        ranges={"numeric": BINARY},
        takes=("text", "number"),
        reads_some=_reads_some,
    )


def _reads_some(parameters: Mapping[str, Any]) -> bool:
    """Whether samples with some unreadable answers are scored: for the best or the majority they can be."""
    return bool(parameters.get("reduce", "mean") != "mean")


def _register_aggregations(registry: Registry) -> None:
    registry.add("aggregation", "mean", "creval.scoring.ratio:Mean", "the mean over samples")
    registry.add("aggregation", "median", "creval.scoring.median:Median", "the median over samples")
    registry.add(
        "aggregation",
        "rate",
        "creval.scoring.ratio:Rate",
        "the share of samples whose score is at least a threshold",
        parameters=params.schema(at_least=params.number()),
        positional="at_least",
    )
    for name, target, summary in (
        ("all", "All", "the share of groups (or docs) of which every score is at least a threshold"),
        ("consistency", "Consistency", "the chance that two docs of a group (or repeats of a doc) agree"),
    ):
        registry.add(
            "aggregation",
            name,
            f"creval.scoring.ratio:{target}",
            summary,
            parameters=params.schema(at_least=params.number()),
            positional="at_least",
        )
    registry.add(
        "aggregation",
        "pass@k",
        "creval.scoring.ratio:PassAtK",
        "the chance that one of k answers to a doc succeeds",
        parameters=params.schema(k=params.integer(1), at_least=params.number(), required=("k",)),
        positional="k",
    )
