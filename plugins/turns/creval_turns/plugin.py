"""Register the components for tasks with several turns. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry
    from creval.plugin.judging import Raters

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register a protocol, a scorer and a baseline."""
    prompts = params.list_of(params.text(1), minimum=1, prompt=True, about="the prompt of each turn")
    registry.add(
        "protocol",
        "turns",
        "creval_turns.turns:Turns",
        "several questions in one conversation",
        parameters=params.schema(
            prompts={**prompts, "default": ["prompt"]},
            field=params.text(1, about="the field of the doc that lists the questions"),
            tolerate=params.list_of(
                params.one_of("length", "refusal", "empty"), about="which unfinished answers the conversation survives"
            ),
        ),
        positional="prompts",
        provides=("turn", "question", "answers"),
    )
    registry.add(
        "scorer",
        "each_turn",
        "creval_turns.each_turn:EachTurn",
        "another scorer on each turn, and its mean over all",
        parameters=params.schema(
            score=params.component("scorer", about="the scorer of a turn"),
            fields=params.list_of(params.text(1), about="fields that list something for each turn"),
            turns=params.one_of("all", "last", about="which turns are scored (all)"),
            required=("score",),
        ),
        positional="score",
        produces=("*",),
        names=_names,
        ranges=_ranges,
        raters=_raters,
        provides=("turn", "question", "conversation"),
        waits=True,
        reads_some=True,
        scores_begun=True,
    )
    registry.add(
        "baseline",
        "turn_target",
        "creval_turns.turns:TurnTarget",
        "in each turn the target of that turn",
        parameters=params.schema(field=params.text(1, about="the field that lists the targets (target)")),
        positional="field",
    )


def _raters(parameters: Mapping[str, Any]) -> Raters | None:
    from creval_turns.each_turn import raters_of_means

    return raters_of_means(parameters)


def _names(parameters: Mapping[str, Any]) -> Sequence[str]:
    from creval_turns.each_turn import names_by_turn

    return names_by_turn(parameters)


def _ranges(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    from creval_turns.each_turn import ranges_by_turn

    return ranges_by_turn(parameters)
