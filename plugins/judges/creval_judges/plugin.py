"""The scorer that creval-judges registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry
    from creval.plugin.judging import Range, Raters

__all__ = ["creval_components"]

_JURY: Mapping[str, Any] = {
    "roles": params.list_of(
        params.text(pattern="^[A-Za-z][A-Za-z0-9_]*$"), minimum=1, role=True, about="a jury: the roles that judge"
    ),
    "combine": params.one_of("mean", "median", "majority", "each", about="what becomes of the jurors' numbers (mean)"),
    "draw": params.integer(1, about="how many of the roles judge each doc, drawn by the run's seed"),
    "panel": params.text(1, about="scorers that state the same one draw the same jurors for a doc (the score's name)"),
    "except": params.one_of("target", about="a model that is the target itself does not judge"),
    "agreement": params.one_of("nominal", "ordinal", "interval", about="how Krippendorff's alpha compares verdicts"),
}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the scorer `judge`."""
    registry.add(
        "scorer",
        "judge",
        "creval_judges.judge:Judge",
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
            over=params.one_of("answer", "doc", about="what is judged: each answer (default), or all of a doc at once"),
            least=params.integer(1, about="with over: doc, the fewest readable answers for a score (1)"),
            reduce=params.one_of("mean", "best", about="how several answers of a sample are combined"),
            people=params.flag(about="the results warn of the score until judge-agreement has compared it with people"),
            **_JURY,
            required=("prompt",),
        ),
        produces=("*",),
        names=_names,
        ranges=_judged,
        raters=_raters,
        people=_for_people,
        waits=True,
        unit=_unit,
        roles=("judge",),
        provides=("answer", "text", "answers", "texts", "first", "second"),
    )


def _unit(parameters: Mapping[str, Any]) -> str:
    return "doc" if parameters.get("over") == "doc" else "sample"


def _raters(parameters: Mapping[str, Any]) -> Raters | None:
    """Return the scores of the jurors, whose agreement is in results.json."""
    from creval_judges.jury import Jury

    return Jury.of(parameters).raters()


def _names(parameters: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of a judge's scores: for a jury also each juror's, for both orders also the agreement."""
    name, roles = parameters.get("name", "judge"), parameters.get("roles", ())
    whole = [] if roles and parameters.get("combine") == "each" else [name]
    agrees = [f"{name}_agrees"] if parameters.get("both_orders") else []
    return [*whole, *(f"{name}@{role}" for role in roles), *agrees]


def _for_people(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the score to compare with people's labels."""
    return (str(parameters.get("name", "judge")),) if parameters.get("people") else ()


def _judged(parameters: Mapping[str, Any]) -> Mapping[str, Range]:
    """Return the ranges of a judge's scores, by its scale or its labels."""
    name = parameters.get("name", "judge")
    rivals = {"first": 1, "second": 0, "tie": 0.5} if "against" in parameters else {}
    worth = parameters.get("scale") or [*(parameters.get("labels") or rivals).values()]
    found: dict[str, Range] = {f"{name}_agrees": (0, 1) if len(parameters.get("roles", ())) > 1 else "0/1"}
    if len(set(worth)) > 1:
        is_binary = "scale" not in parameters and set(worth) <= {0, 1}
        single: Range = "0/1" if is_binary else (min(worth), max(worth))
        roles = parameters.get("roles", ())
        found |= {f"{name}@{role}": single for role in roles}
        found[name] = (min(worth), max(worth)) if len(roles) > 1 else single
    return found
