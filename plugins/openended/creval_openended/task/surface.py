"""Scorer `openended.surface`: similarity of the candidates of a step by their words and their vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.entropy.judging import judge_by
from creval_openended.entropy.partition import partition_all
from creval_openended.entropy.surface import distinct, mean_cosine, self_bleu_of_steps
from creval_openended.stepwise.candidates import without_label
from creval_openended.stepwise.filtering import filtered
from creval_openended.stepwise.outcome import measured_steps
from creval_openended.task.expected import expected_pairs

__all__ = ["Surface"]

Steps = Sequence[Sequence[str]]
"""The candidates of each step of one solution."""


class Surface:
    """`cosine`, `self_bleu`, `distinct_1`, `distinct_2` of the candidates, mean over steps (Appendix C.3).

    `cosine` is the mean over all pairs of candidates; with `cosine: founders`, over the first members of their classes
    (Section 5 speaks of similarity "between clusters"), found by the task's entailment.
    """

    def __init__(self, cosine: Literal["candidates", "founders"] = "candidates") -> None:
        self._between = cosine == "founders"

    def expected_pairs(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the number of pairs to judge for a solution; those also requested by the divergence are paid once."""
        return {"entailment": (0, expected_pairs(expected)[1])} if self._between else {}

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score] | Awaitable[Sequence[Score]]:
        """Measure the solutions; the texts of all of them are embedded together."""
        solutions = [
            [[without_label(each.text) for each in step] for step in measured_steps(item.outcome)] for item in items
        ]
        vectors_of = _vectors(solutions, context.resource("embedding"))
        if self._between:
            return self._with_founders(items, solutions, vectors_of, context)
        measured = [_measured(steps, steps, vectors_of) for steps in solutions]
        return [filtered(score, item.outcome) for score, item in zip(measured, items, strict=True)]

    async def _with_founders(
        self,
        items: Sequence[ScorerInput],
        solutions: Sequence[Steps],
        vectors_of: Callable[[Sequence[str]], Any],
        context: Context,
    ) -> Sequence[Score]:
        texts = [step for steps in solutions for step in steps]
        labels = await partition_all(texts, judge_by(context.resource("entailment"), "strict"))
        founders = iter([_founders(step, classes) for step, classes in zip(texts, labels, strict=True)])
        measured = [_measured(steps, [next(founders) for _ in steps], vectors_of) for steps in solutions]
        return [filtered(score, item.outcome) for score, item in zip(measured, items, strict=True)]


def _founders(texts: Sequence[str], classes: Sequence[int]) -> list[str]:
    return [texts[classes.index(number)] for number in sorted(set(classes))]


def _vectors(solutions: Sequence[Steps], embedding: Any) -> Callable[[Sequence[str]], Any]:
    texts = list(dict.fromkeys(text for steps in solutions for step in steps for text in step))
    vectors = embedding.embed(texts) if texts else np.zeros((0, 1))
    place = {text: index for index, text in enumerate(texts)}
    return lambda step: vectors[[place[text] for text in step]]


def _measured(steps: Steps, compared: Steps, vectors_of: Callable[[Sequence[str]], Any]) -> Score:
    """Measure one solution; cosines are taken among the texts `compared` of each step."""
    if not steps:
        return Score({}, failure="no step has a usable candidate")
    per_step: dict[str, list[float | None]] = {
        "cosine": [mean_cosine(vectors_of(texts)) for texts in compared],
        "self_bleu": self_bleu_of_steps(steps),
        "distinct_1": [distinct(texts, 1) for texts in steps],
        "distinct_2": [distinct(texts, 2) for texts in steps],
    }
    scores = {}
    for name, values in per_step.items():
        numbers = [value for value in values if value is not None]
        if numbers:
            scores[name] = float(np.mean(numbers))
    return Score(scores, {"surface_steps": per_step})
