"""Scorer `openended.labels`: one person (or model) labels a solution on each criterion, 1 or 0 (Appendix K)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.judging.asking import ROLE, Questions, case_of
from creval_openended.judging.criteria import Criterion, read_criteria
from creval_openended.judging.replies import UnreadableReplyError
from creval_openended.judging.single import words_of
from creval_openended.judging.verdicts import Verdict, score_of

__all__ = ["LabelledByPeople"]


class LabelledByPeople:
    """Scores as those of `openended.jury`, by the prompt `label`: the answer is 1 or 0."""

    def __init__(self, criteria: Sequence[Mapping[str, str]]) -> None:
        self._criteria = read_criteria(criteria)

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return one call per criterion."""
        return {ROLE: (len(self._criteria), 2 * len(self._criteria))}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Ask about one solution after the other."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        questions = Questions(context, case_of(item, context))

        async def judge(criterion: Criterion) -> Verdict:
            label, _ = await questions.ask("label", "label", words_of(criterion), _read)
            return Verdict(label)

        return await score_of(self._criteria, judge, questions, {"method": "labels"})


def _read(text: str) -> bool:
    said = text.strip().strip("\"'.")
    if said not in ("0", "1"):
        raise UnreadableReplyError(f"{said[:40]!r} is neither 1 nor 0")
    return said == "1"
