"""Registers the components of this plugin without importing anything heavy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_tasks"]

_COSINE = params.number(-1, 1, about="the least cosine of two answers that say the same (.75)")
_SHARE = params.number(0, 1, about="the probability of entailment from which answers say the same (.5)")


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the source, the protocol, the scorers, the baselines and the analyses."""
    registry.add(
        "source",
        "noveltybench",
        "creval_diversity.prompts:open_prompts",
        "the prompts of NoveltyBench, from its repository",
        parameters=params.schema(choice=params.one_of("curated", "wildchat"), remote=True),
    )
    registry.add(
        "protocol",
        "diversity.ask",
        "creval_diversity.protocol:Ask",
        "one answer, asked for outright or by verbalised sampling",
        parameters=params.schema(
            verbalised=params.flag(condition=True, about="ask for several answers with probabilities, and draw one"),
            candidates=params.integer(2, 50, about="answers that are asked for with verbalised sampling (5)"),
            max_tokens=params.integer(1, about="tokens of such a reply (none: the task's limit)"),
        ),
        prompts=("plain", "verbalised"),
        provides=("candidates",),
    )
    _scorers(registry)
    _sets(registry)
    registry.add("baseline", "same_answer", "creval_diversity.baselines:SameAnswer", "one sentence to every try")
    registry.add(
        "baseline", "other_answers", "creval_diversity.baselines:OtherAnswers", "an unrelated sentence to each try"
    )
    for name, target, summary in (
        (
            "collapse",
            "collapse:Collapse",
            "Classes and similarity of answers by condition: does it collapse, what helps?",
        ),
        ("across", "across:Across", "Similarity of answers within each model and across models."),
        ("utility", "given_utility:GivenUtility", "NoveltyBench's utility from a file of qualities or rewards."),
    ):
        registry.add("analysis", f"diversity-{name}", f"creval_diversity.analyses.{target}", summary)


def _scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "diversity.classes_exact",
        "creval_diversity.scorers:Exact",
        "how many different answers a doc has, by their words",
        produces=("classes_exact",),
        ranges={"classes_exact": (0, None)},
        unit="doc",
        minimum_repeats=2,
        scores_failures=True,
        waits=True,
    )
    registry.add(
        "scorer",
        "diversity.classes_embedding",
        "creval_diversity.scorers:Embedded",
        "how many different answers a doc has, by the cosine of their vectors",
        parameters=params.schema(threshold=_COSINE),
        produces=("classes_embedding",),
        ranges={"classes_embedding": (0, None)},
        unit="doc",
        minimum_repeats=2,
        scores_failures=True,
        waits=True,
        uses=("embedding",),
    )
    registry.add(
        "scorer",
        "diversity.classes_entailment",
        "creval_diversity.scorers:Entailed",
        "how many different answers a doc has, by entailment",
        parameters=params.schema(
            threshold=_SHARE, direction=params.one_of("both", "forward", about="whether both must entail each other")
        ),
        produces=("classes_entailment",),
        ranges={"classes_entailment": (0, None)},
        unit="doc",
        minimum_repeats=2,
        scores_failures=True,
        waits=True,
        uses=("entailment",),
    )
    _scorers_with_models(registry)


def _scorers_with_models(registry: Registry) -> None:
    registry.add(
        "scorer",
        "diversity.distinct_classifier",
        "creval_diversity.scorers:classifier",
        "how many different answers a doc has, by NoveltyBench's own classifier",
        produces=("distinct_classifier",),
        ranges={"distinct_classifier": (0, None)},
        unit="doc",
        minimum_repeats=2,
        scores_failures=True,
        waits=True,
        uses=("entailment",),
    )
    registry.add(
        "scorer",
        "diversity.judged_utility",
        "creval_diversity.scorers:JudgedUtility",
        "quality of the answers that are new, rated by a judge, the earlier ones weighing more",
        parameters=params.schema(
            threshold=_COSINE, patience=params.number(0, 1, about="the weight of the next answer (.8)")
        ),
        produces=("judged_utility",),
        ranges={"judged_utility": (0, 10)},
        unit="doc",
        minimum_repeats=2,
        scores_failures=True,
        waits=True,
        uses=("embedding",),
        roles=("judge",),
        prompts=("rating",),
        provides=("answer",),
    )


def _sets(registry: Registry) -> None:
    registry.add(
        "scorer",
        "distinct",
        "creval_diversity.answer_sets:Distinct",
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
        "creval_diversity.answer_sets:SetDistance",
        "the mean cosine distance among all answers to a doc (repeats)",
        produces=("set_distance",),
        ranges={"set_distance": (0, 2)},
        unit="doc",
        minimum_repeats=2,
        uses=("embedding",),
    )
