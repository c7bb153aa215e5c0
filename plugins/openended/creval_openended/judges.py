"""The judge components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from creval.plugin import params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["register_judges"]

_ANALYSES = (
    (
        "jury-agreement",
        "agreement:JuryAgreement",
        "Judges of solutions against people: accuracy, AUARC, kappa, thresholds.",
    ),
    ("jury-cost", "cost:JuryCost", "Tokens of judges by phase, and what one saves (Table 15)."),
    ("openended-performance", "performance:Performance", "Entropy next to criteria by model (Tables 3 to 5, 18)."),
    ("openended-tradeoff", "tradeoff:Tradeoff", "Entropy against criteria by solution (Table 20, Figure 7)."),
)
_COUNTS = ("overall", "confidence", "abstained", "judge_calls", "judge_input_tokens", "judge_output_tokens")
_TEMPERATURE = params.either(params.number(0), {"type": "null"})
_CRITERIA = params.list_of(
    params.schema(
        name=params.text(pattern="^[a-z][a-z0-9_]*$", about="of its score"),
        definition=params.text(1),
        called=params.text(1, about="the name that judges read; by default its own name"),
        positive=params.text(1, about="the word for a solution that fulfils it"),
        negative=params.text(1, about="the word for one that does not"),
        required=("name", "definition"),
    ),
    minimum=1,
)
_PROVIDES: tuple[str, ...] = (
    *("problem", "solution", "criteria", "criterion", "definition", "positive", "negative"),
    *("analyst", "phase", "focus", "words", "discussion", "number"),
)
"""Fields that the prompts of judges may use; a task may contain the prompts of several judges."""
_SOLUTION = params.one_of("answer", "full", about="what is judged: the answer, or the full answer before the steps")


def _criteria(parameters: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of the scores of a judge of criteria besides its counts, with those before a filter."""
    names = [each["name"] for each in parameters.get("criteria", ())]
    return [*names, *(f"{name}_unfiltered" for name in (*names, "overall"))]


def _judged(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the possible scores of a judge of criteria: each criterion is met or not."""
    shares = dict.fromkeys(("overall", "confidence", "abstained"), (0, 1))
    counts = dict.fromkeys(_COUNTS[3:], (0, None))
    return {**shares, **counts, **{each["name"]: "0/1" for each in parameters.get("criteria", ())}}


def register_judges(registry: Registry) -> None:
    """Register the jury, its baselines, and the provider of written solutions."""
    _register_jury(registry)
    _register_baselines(registry)
    _register_people(registry)
    registry.add(
        "source",
        "macgyver_labelled",
        "creval_openended.published.macgyver_labels:open_labelled",
        "MacGyver's solutions with people's labels, mapped to a criterion",
        parameters=params.schema(
            criterion=params.one_of("feasibility", "effectiveness"),
            url=params.text(),
            results=params.text(),
            remote=True,
            required=("criterion",),
        ),
    )
    for name, target, summary in _ANALYSES:
        registry.add("analysis", name, f"creval_openended.validation.{target}", summary)
    registry.add(
        "provider",
        "given",
        "creval_openended.judging.given:open_given",
        "given/FIELD: a field of the doc as the answer, so that written solutions are judged",
    )


def _register_jury(registry: Registry) -> None:
    registry.add(
        "scorer",
        "openended.jury",
        "creval_openended.judging.jury:Jury",
        "three analysts discuss each criterion over retrieved fragments; the surest decides",
        parameters=params.schema(
            criteria=_CRITERIA,
            variant=params.one_of(
                "paper", "released", about="the numbers below as the paper or the released code has them"
            ),
            k=params.integer(1, about="fragments shown for a turn (5)"),
            j=params.integer(1, about="for a confidence (4)"),
            l=params.integer(1, about="for the verdict (8)"),
            threshold=params.number(0, 1, about="a mean confidence above it ends the discussion (0.5)"),
            reached=params.flag(about="one that reaches it does too"),
            rounds=params.integer(1, about="at most so many (2)"),
            words=params.integer(1, about="of a turn (150)"),
            curve=params.flag(about="play all rounds, with a verdict after each"),
            unreadable_confidence=params.number(0, 1, about="counts where a confidence cannot be read"),
            similarity=params.one_of("cosine", "squared_l2"),
            replies=params.one_of(
                "written", "structured", about="by the prompts' format, or (ours) as JSON under a schema"
            ),
            solution=_SOLUTION,
            focus=params.one_of("own", "shifted", about="what an analyst that rates and decides looks at"),
            confidence_temperature=_TEMPERATURE,
            verdict_temperature=_TEMPERATURE,
            required=("criteria",),
        ),
        produces=(*_COUNTS, "*"),
        names=_criteria,
        ranges=_judged,
        uses=("embedding",),
        roles=("judge",),
        prompts=(
            *("statement", "start_problem", "start_solution", "start_criterion"),
            *("turn", "confidence", "verdict", "query", "focus"),
        ),
        provides=_PROVIDES,
        waits=True,
    )


def _register_baselines(registry: Registry) -> None:
    registry.add(
        "scorer",
        "openended.single",
        "creval_openended.judging.single:SingleJudge",
        "one judge, one call a criterion: zero-shot or few-shot, with a reason or without",
        parameters=params.schema(
            criteria=_CRITERIA,
            examples=params.flag(about="show an example first"),
            explain=params.flag(about="ask for a reason of 20 words"),
            required=("criteria",),
        ),
        prompts=("statement", "zero_shot", "zero_shot_cot", "few_shot", "few_shot_cot"),
        provides=_PROVIDES,
        produces=(*_COUNTS, "*"),
        names=_criteria,
        ranges=_judged,
        roles=("judge",),
        waits=True,
    )
    registry.add(
        "scorer",
        "openended.debate",
        "creval_openended.judging.debate:Debate",
        "a debater for, one against, then a judge",
        parameters=params.schema(criteria=_CRITERIA, rounds=params.integer(1), required=("criteria",)),
        prompts=("statement", "debater", "debate_judge"),
        provides=_PROVIDES,
        produces=(*_COUNTS, "*"),
        names=_criteria,
        ranges=_judged,
        roles=("judge",),
        waits=True,
    )
    registry.add(
        "scorer",
        "openended.chateval",
        "creval_openended.judging.chateval:ChatEval",
        "three analysts one by one, each shown the whole discussion; the majority decides",
        parameters=params.schema(
            criteria=_CRITERIA,
            rounds=params.integer(1, about="of turns (2)"),
            words=params.integer(1, about="of a turn (150)"),
            curve=params.flag(about="verdicts after each round, so that one run shows what fewer rounds cost"),
            required=("criteria",),
        ),
        prompts=("statement", "start_problem", "start_solution", "start_criterion", "turn", "verdict", "focus"),
        provides=_PROVIDES,
        produces=(*_COUNTS, "*"),
        names=_criteria,
        ranges=_judged,
        roles=("judge",),
        waits=True,
    )


def _register_people(registry: Registry) -> None:
    registry.add(
        "scorer",
        "openended.labels",
        "creval_openended.people.labels:LabelledByPeople",
        "a person in the judge's role labels each criterion, 1 or 0 (Appendix K)",
        parameters=params.schema(criteria=_CRITERIA, required=("criteria",)),
        produces=(*_COUNTS, "*"),
        names=_criteria,
        ranges=_judged,
        roles=("judge",),
        prompts=("statement", "label"),
        provides=_PROVIDES,
        waits=True,
    )
    registry.add(
        "scorer",
        "openended.ranks",
        "creval_openended.people.ranks:RankedByPeople",
        "a person in the judge's role ranks all solutions by novelty: tiers, then pairs (Appendix K)",
        parameters=params.schema(pairs=params.flag(about="compare within tiers")),
        produces=("novelty_rank", "novelty_tier"),
        ranges={"novelty_rank": (1, None), "novelty_tier": (1, 4)},
        roles=("judge",),
        prompts=("statement", "tier", "more_novel"),
        provides=(*_PROVIDES, "rival_problem", "rival_solution"),
        waits=True,
        batch_size=1000,
    )
    for scorer in ("openended.labels", "openended.ranks"):
        registry.add("screen", scorer, "creval_openended.people.screens:JudgeScreen", "problem, solution and question")
