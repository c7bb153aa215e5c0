"""Scorer `openended.debate`: two debaters, then a judge (Appendix N, which leaves the judge's prompt out).

Debater 1 argues that the solution meets the criterion, debater 2 that it does not, both see the debate so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.judging.asking import ROLE, Questions, case_of
from creval_openended.judging.criteria import Criterion, read_criteria
from creval_openended.judging.replies import read_probable
from creval_openended.judging.single import probable_verdict, words_of
from creval_openended.judging.verdicts import Verdict, score_of

__all__ = ["Debate"]


class Debate:
    """Scores as those of `openended.jury`. Both debaters speak `rounds` times; then the judge decides."""

    def __init__(self, criteria: Sequence[Mapping[str, str]], rounds: int = 1) -> None:
        self._criteria = read_criteria(criteria)
        self._rounds = rounds

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return two calls per round and one verdict, for each criterion."""
        calls = len(self._criteria) * (2 * self._rounds + 1)
        return {ROLE: (calls, 2 * calls)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Judge one solution after the other."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        questions = Questions(context, case_of(item, context))

        async def judge(criterion: Criterion) -> Verdict:
            said: list[str] = []
            fields = words_of(criterion)
            for _ in range(self._rounds):
                for number in (1, 2):
                    asked = {**fields, "number": number, "discussion": "\n\n".join(said)}
                    argument, _ = await questions.ask("discussion", "debater", asked, str.strip)
                    said.append(f"Debater {number}: {argument}")
            read = partial(read_probable, positive=criterion.positive, negative=criterion.negative)
            heard = {**fields, "discussion": "\n\n".join(said)}
            (fulfilled, probability), text = await questions.ask("verdict", "debate_judge", heard, read)
            return probable_verdict(fulfilled, probability, {"arguments": said, "text": text})

        return await score_of(self._criteria, judge, questions, {"method": "debate"})
