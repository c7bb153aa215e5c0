"""Scorer `openended.single`: one judge, one call per criterion, zero- or few-shot, with a reason or not (App. N)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.judging.asking import ROLE, Questions, case_of
from creval_openended.judging.criteria import Criterion, read_criteria
from creval_openended.judging.replies import read_probable
from creval_openended.judging.verdicts import Verdict, score_of

__all__ = ["SingleJudge"]


class SingleJudge:
    """Scores as those of `openended.jury`. `examples` shows an example first, `explain` asks for a reason of 20 words.

    The prompt is `zero_shot`, `zero_shot_cot`, `few_shot` or `few_shot_cot` of the task. The judge states the
    probability p that the criterion is fulfilled; the confidence of its verdict is p for yes and 1 - p for no.
    """

    def __init__(self, criteria: Sequence[Mapping[str, str]], examples: bool = False, explain: bool = False) -> None:
        self._criteria = read_criteria(criteria)
        self._prompt = ("few_shot" if examples else "zero_shot") + ("_cot" if explain else "")

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return one call per criterion; an unreadable reply costs one more."""
        return {ROLE: (len(self._criteria), 2 * len(self._criteria))}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Judge one solution after the other."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        questions = Questions(context, case_of(item, context))

        async def judge(criterion: Criterion) -> Verdict:
            read = partial(read_probable, positive=criterion.positive, negative=criterion.negative)
            (fulfilled, probability), text = await questions.ask("verdict", self._prompt, words_of(criterion), read)
            return probable_verdict(fulfilled, probability, {"text": text})

        return await score_of(self._criteria, judge, questions, {"method": self._prompt})


def words_of(criterion: Criterion) -> dict[str, str]:
    """Return the fields of a baseline's prompt."""
    return {
        "criterion": criterion.called,
        "definition": criterion.definition,
        "positive": criterion.positive,
        "negative": criterion.negative,
    }


def probable_verdict(fulfilled: bool, probability: float, details: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a judge that stated the probability of yes."""
    confidence = probability if fulfilled else 1 - probability
    return Verdict(fulfilled, confidence, {"probability": probability, **details})
