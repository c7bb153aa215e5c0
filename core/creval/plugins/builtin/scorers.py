"""Scorers and aggregations of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.plugins import parameters as params
from creval.plugins.registry import BINARY, Range, Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_scorers(registry)
    _register_sets(registry)
    _register_judge(registry)
    _register_aggregations(registry)


def _register_scorers(registry: Registry) -> None:
    reduce = params.one_of("mean", "best", "majority", about="what becomes of several answers of a sample")
    empty = params.flag(about="whether a target may be empty")
    matching = params.schema(
        field=params.text(1), ignore_case=params.flag(), ignore_punctuation=params.flag(), empty=empty, reduce=reduce
    )
    registry.add(
        "scorer",
        "exact_match",
        "creval.scoring.matching:ExactMatch",
        "1 where the answer is the doc's target",
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
        "1 where the doc's target occurs in the answer",
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
        "1 where the answer is the doc's number within a tolerance",
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
    """Whether a sample of which some answers cannot be read is scored all the same: the best or the majority can be."""
    return bool(parameters.get("reduce", "mean") != "mean")


def _register_sets(registry: Registry) -> None:
    registry.add(
        "scorer",
        "distinct",
        "creval.scoring.sets:Distinct",
        "the share of distinct answers among all to a doc (repeats)",
        parameters=params.schema(ignore_case=params.flag(), ignore_punctuation=params.flag()),
        produces=("distinct",),
        ranges={"distinct": (0, 1)},
        unit="doc",
        minimum_repeats=2,
    )
    registry.add(
        "scorer",
        "set_distance",
        "creval.scoring.sets:SetDistance",
        "the mean cosine distance among all answers to a doc (repeats)",
        produces=("set_distance",),
        ranges={"set_distance": (0, 2)},
        unit="doc",
        minimum_repeats=2,
        uses=("embedding",),
    )


def _register_judge(registry: Registry) -> None:
    registry.add(
        "scorer",
        "judge",
        "creval.engine.scoring.judge:Judge",
        "what a model in the role of the judge says of an answer, as a number",
        parameters=params.schema(
            prompt=params.text(1, prompt=True, about="the judge's prompt"),
            parse=params.one_or_more(
                "parser", about="the parsers of the verdict, in any form that the task's own parse takes"
            ),
            scale={"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            labels={"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 2},
            repeat=params.integer(1, about="independent verdicts, of which the mean counts"),
            against=params.text(1, about="the doc's field with a rival text: a pair is judged"),
            both_orders=params.flag(about="ask about the pair in both orders"),
            name=params.text(pattern="^[A-Za-z][A-Za-z0-9_]*$", about="the name of the score (judge)"),
            reduce=params.one_of("mean", "best", about="what becomes of several answers of a sample"),
            **_JURY,
            required=("prompt",),
        ),
        produces=("*",),
        ranges=_judged,
        waits=True,
        roles=("judge",),
        provides=("answer", "text", "first", "second"),
    )


_JURY: Mapping[str, Any] = {
    "roles": params.list_of(
        params.text(pattern="^[A-Za-z][A-Za-z0-9_]*$"), minimum=1, role=True, about="a jury: the roles that judge"
    ),
    "combine": params.one_of("mean", "median", "majority", "each", about="what becomes of the jurors' numbers (mean)"),
    "draw": params.integer(1, about="so many of the roles judge each doc, drawn by the run's seed"),
    "except": params.one_of("target", about="a model that is the target itself does not judge"),
    "agreement": params.one_of("nominal", "ordinal", "interval", about="how Krippendorff's alpha compares verdicts"),
}


def _judged(parameters: Mapping[str, Any]) -> Mapping[str, Range]:
    """What a judge's scores can be, by its scale or its labels."""
    name = parameters.get("name", "judge")
    rivals = {"first": 1, "second": 0, "tie": 0.5} if "against" in parameters else {}
    worth = parameters.get("scale") or [*(parameters.get("labels") or rivals).values()]
    found: dict[str, Range] = {f"{name}_agrees": (0, 1) if len(parameters.get("roles", ())) > 1 else BINARY}
    if len(set(worth)) > 1:
        is_binary = "scale" not in parameters and set(worth) <= {0, 1}
        single: Range = BINARY if is_binary else (min(worth), max(worth))
        roles = parameters.get("roles", ())
        found |= {f"{name}@{role}": single for role in roles}
        found[name] = (min(worth), max(worth)) if len(roles) > 1 else single
    return found


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
        ("consistency", "Consistency", "the chance that two docs of a group (or repeats of a doc) end alike"),
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
