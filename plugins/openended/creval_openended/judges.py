"""What this plugin registers of judges. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import either, flag, integer, list_of, number, one_of, params, text

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["register_judges"]

_COUNTS = ("overall", "confidence", "abstained", "judge_calls", "judge_input_tokens", "judge_output_tokens")
_TEMPERATURE = either(number(0), {"type": "null"})
_CRITERIA = list_of(
    params(
        name=text(pattern="^[a-z][a-z0-9_]*$", about="of its score"),
        definition=text(1),
        called=text(1, about="what judges are told it is called; without it the name"),
        positive=text(1, about="the word for a solution that fulfils it"),
        negative=text(1, about="the word for one that does not"),
        required=("name", "definition"),
    ),
    minimum=1,
)
_SOLUTION = one_of("answer", "full", about="what is judged: the answer, or the full answer before the steps")


def register_judges(registry: Registry) -> None:
    """Register the jury, its baselines, and the provider of written solutions."""
    registry.add(
        "scorer",
        "openended.jury",
        "creval_openended.judging.jury:Jury",
        "three analysts discuss each criterion over retrieved fragments; the surest decides",
        parameters=params(
            criteria=_CRITERIA,
            variant=one_of("paper", "released", about="the numbers below as the paper or the released code has them"),
            k=integer(1, about="fragments shown for a turn (5)"),
            j=integer(1, about="for a confidence (4)"),
            l=integer(1, about="for the verdict (8)"),
            threshold=number(0, 1, about="a mean confidence above it ends the discussion (0.5)"),
            reached=flag(about="one that reaches it does too"),
            rounds=integer(1, about="at most so many (2)"),
            words=integer(1, about="of a turn (150)"),
            curve=flag(about="play all rounds, with a verdict after each"),
            unreadable_confidence=number(0, 1, about="counts where a confidence cannot be read"),
            similarity=one_of("cosine", "squared_l2"),
            solution=_SOLUTION,
            confidence_temperature=_TEMPERATURE,
            verdict_temperature=_TEMPERATURE,
            required=("criteria",),
        ),
        produces=(*_COUNTS, "*"),
        uses=("embedding",),
        roles=("judge",),
        prompts=(
            *("statement", "start_problem", "start_solution", "start_criterion"),
            *("turn", "confidence", "verdict", "query", "focus"),
        ),
        provides=(*_PROVIDES, "criteria", "focus", "phase", "words"),
    )
    registry.add(
        "provider",
        "given",
        "creval_openended.judging.given:open_given",
        "given/FIELD: a field of the doc as the answer, so that written solutions are judged",
    )


_PROVIDES: tuple[str, ...] = ("problem", "solution", "criterion", "definition", "analyst", "discussion")
