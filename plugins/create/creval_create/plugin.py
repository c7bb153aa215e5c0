"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params
from creval_create.utility.bounds import most

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_EXTENT = ("left_out", "counted")
_RULES = ("strict", "shared", "released")
_JUDGED = (
    *("exact_utility@0.9", "exact_gap@0.9", "strength", "distance"),
    *("valid", "paths", "useful", "triples", "factuality"),
)
_COUNTS = ("printed", "readable", "rescued", "distinct", "valid_strict", "valid_shared", "valid_released")


_ANALYSES = (
    ("table", "table:CreateTable", "Utility, strength, distance and paths with SD, by rule of validity (Table 1)."),
    ("patience", "curves:CreatePatience", "Utility by patience (Figure 4)."),
    ("factuality", "curves:CreateFactuality", "Utility by the share of true triples a path needs (Figure 5)."),
    ("distribution", "distribution:CreateDistribution", "How utility is spread over queries (Figure 8)."),
    (
        "distinctiveness",
        "distinctiveness:CreateDistinctiveness",
        "Distance of paths to those of all models (Tables 2, 7).",
    ),
    ("paths", "breakdowns:CreatePaths", "Strongest and weakest paths of each query (Table 12)."),
    ("strategies", "breakdowns:CreateStrategies", "Prompting strategies, paired (Table 15, Figure 3)."),
    ("distances", "distances:CreateDistances", "Distances of paths before and after their transformation (Figure 6)."),
    ("relations", "breakdowns:CreateRelations", "Utility by source relation (Table 4)."),
    ("trace", "trace:CreateTrace", "Relations, entities and triples in reasoning traces (Table 16)."),
    ("resample", "resample:CreateResample", "Utility of k answers joined, from repeats."),
)


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands under `creval create`."""
    return {
        "build": "creval_create.cli.building:build_queries",
        "import": "creval_create.cli.importing:import_published",
    }


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parser, protocol, scorers, baselines, the published queries and the shipped verdicts."""
    registry.add(
        "parser",
        "create_paths",
        "creval_create.reading.parser:AnswerPaths",
        "the numbered paths of triples in an answer, each read by itself",
    )
    registry.add(
        "protocol",
        "create",
        "creval_create.task.protocol:CreateProtocol",
        "one answer, independent answers, or further rounds in one conversation",
        parameters=params.schema(
            strategy=params.one_of(
                "base", "creative", "verbalized", about="which prompt: E.1, with a line more, or E.2"
            ),
            samples=params.integer(1, about="independent answers, joined to one set"),
            rounds=params.integer(0, about="further rounds in the same conversation, joined with the first answer"),
            wording=params.one_of("paper", "run", "released", condition=True, about="which text of the base prompt"),
        ),
        prompts=("prompt", "again"),
        provides=("wording", "strategy"),
    )
    for name, target, summary in _ANALYSES:
        registry.add("analysis", f"create-{name}", f"creval_create.analysis.commands.{target}", summary)
    _scorers(registry)
    _baselines(registry)
    registry.add(
        "source",
        "create_published",
        "creval_create.queries.imported:open_published",
        "the published 931 queries, from the Hugging Face hub",
        parameters=params.schema(
            revision=params.text(
                pattern="^([0-9a-f]{40}|newest)$", about="a full commit of the hub, or newest: that of the first fetch"
            ),
            expected={
                "type": "object",
                "properties": {
                    "rows": {"type": "integer", "minimum": 1},
                    "columns": params.list_of(params.text(1), minimum=1),
                },
                "additionalProperties": False,
                "description": "rows and columns that the newest commit must have; another one is refused",
            },
            remote=True,
        ),
    )
    registry.add(
        "provider",
        "create",
        "creval_create.judging.shipped:ShippedVerdicts",
        "create/shipped: our own verdicts on the hand-made paths, as a judge without a key",
    )


def _scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "create_counts",
        "creval_create.task.counts:CreateCounts",
        "paths printed, readable, distinct and valid by each rule; tokens",
        produces=(*_COUNTS, "tokens", "tokens_per_call"),
        ranges=dict.fromkeys((*_COUNTS, "tokens", "tokens_per_call"), (0, None)),
        reads_some=True,
    )
    registry.add(
        "scorer",
        "create",
        "creval_create.task.judged:CreativeUtility",
        "creative utility, strength and factuality of the paths, by a judge (Eqs. 1 to 9)",
        parameters=params.schema(
            variant=params.one_of(
                "paper", "released", about="the rules below as the paper's tables or the code have them"
            ),
            validity=params.one_of(*_RULES, about="which paths count"),
            also=params.list_of(
                params.one_of(*_RULES), about="rules whose utility is also computed, at the judge's price"
            ),
            strength_of=params.one_of("factual", "valid", about="whose class sizes are judged"),
            least_true=params.number(0, 1, about="the share of true triples that a path needs to count (1: all)"),
            last_triple=params.one_of(*_EXTENT, about="in the strength of a path"),
            path_string=params.one_of(*_EXTENT, about="of the last triple, in the string that is embedded"),
            discount=params.one_of("equation", "released", about="gamma^(i-1), or the first two undiscounted"),
            empty_set=params.one_of("zero", "one", about="what a set without a path is worth"),
            over_one=params.one_of("clamp", "wrap", about="cosine distances above 1"),
            order=params.one_of("first", "best_start", about="how ties of the greedy order are broken"),
        ),
        produces=(*_utilities(), *_JUDGED),
        ranges=_judged_ranges,
        uses=("embedding",),
        roles=("judge",),
        prompts=("factuality", "strength"),
        provides=("path",),
        waits=True,
        reads_some=True,
    )


def _utilities() -> Sequence[str]:
    """Return the names of the utilities: under the rule in use, and under the additional rules, at each patience."""
    suffixes = ("", *(f"_{rule}" for rule in _RULES))
    return [f"creative_utility{suffix}@{step / 10:.1f}" for suffix in suffixes for step in range(11)]


def _judged_ranges(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ranges of the judged scores."""
    discount = parameters.get("discount") or ("released" if parameters.get("variant") == "released" else "equation")
    worth = {f"{step / 10:.1f}": (0, most(step / 10, discount)) for step in range(11)}
    return {
        **{name: worth[name.rpartition("@")[2]] for name in _utilities()},
        **dict.fromkeys(("exact_utility@0.9", "exact_gap@0.9"), (0, 50)),
        "strength": (0, 5),
        "distance": (0, 1),
        "factuality": (0, 1),
        "triples": (1, None),
        **dict.fromkeys(("valid", "paths", "useful"), (0, None)),
    }


def _baselines(registry: Registry) -> None:
    registry.add(
        "baseline",
        "create_own",
        "creval_create.task.baselines:OwnPaths",
        "the hand-made paths of our own queries: one generic, or the strong and diverse ones",
        parameters=params.schema(kind=params.one_of("floor", "ceiling"), required=("kind",)),
    )
    registry.add(
        "baseline", "create_claim", "creval_create.task.baselines:DirectClaim", "the bare claim, in one triple"
    )
    registry.add(
        "baseline",
        "create_source_path",
        "creval_create.task.baselines:SourcePath",
        "the published source path, turned head to tail",
    )
