"""Scorer `openended.jury`: three analysts discuss each criterion over retrieved fragments (paper 004, 4.1, D, M)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context, Expected, ModelError, Score, ScorerInput, ScoringError
from creval_openended.judging.asking import ROLE, Questions, case_of
from creval_openended.judging.criteria import Criterion, read_criteria
from creval_openended.judging.discussion import Discussion
from creval_openended.judging.memory import Memory
from creval_openended.judging.replies import Analyst
from creval_openended.judging.reply_forms import forms_of
from creval_openended.judging.settings import JurySettings, Variant
from creval_openended.judging.verdicts import Verdict, score_of
from creval_openended.judging.wording import Wording

__all__ = ["Jury"]

_SHARED: tuple[Analyst, ...] = ("problem", "solution")


class Jury:
    """Scores of a solution: 1 or 0 for each of `criteria`, their mean `overall`, and the cost of judging.

    The initialisation of the problem and the solution analyst serves all criteria; each criterion's discussion sees
    only it and its own fragments. Settings as in `JurySettings`. A criterion without a verdict has no score; the other
    criteria keep theirs. Details `jury` contain the whole discussions.
    """

    def __init__(self, criteria: Sequence[Mapping[str, str]], variant: Variant = "paper", **settings: Any) -> None:
        self._criteria = read_criteria(criteria)
        self._settings = JurySettings.of(variant, **settings)
        self._forms = forms_of(self._settings.replies, self._settings.words)

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """26 calls for three criteria in one round, 44 in two; each may be retried once."""
        rounds = self._settings.rounds
        verdicts = rounds if self._settings.curve else 1
        first = rounds if self._settings.curve else 1
        fewest = len(_SHARED) + len(self._criteria) * (1 + 6 * first + verdicts)
        return {ROLE: (fewest, 2 * (len(_SHARED) + len(self._criteria) * (1 + 6 * rounds + verdicts)))}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Judge one solution after the other."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        case = case_of(item, context, self._settings.solution)
        questions = Questions(context, case)
        wording = Wording(context, item.doc, self._criteria, shifted=self._settings.focus == "shifted")
        shared = Memory(context.resource("embedding"), self._settings.similarity)
        start: list[dict[str, Any]] = []
        failure: ModelError | ScoringError | None = None
        try:
            for analyst in _SHARED:
                form = self._forms.points
                points, text = await questions.ask("initialisation", f"start_{analyst}", wording.start(), form)
                shared.add(analyst, 0, points)
                start.append({"round": 0, "by": analyst, "seen": [], "text": text})
        except (ModelError, ScoringError) as error:
            failure = error  # the reason for each missing score; other scorers are not affected

        async def judge(criterion: Criterion) -> Verdict:
            if failure is not None:
                raise failure
            memory = shared.copy()
            return await Discussion(questions, wording, criterion, memory, self._settings, self._forms).verdict()

        return await score_of(self._criteria, judge, questions, {"method": "jury", "start": start})
