"""Scorer `openended.chateval`: three analysts who see the whole discussion, in turn (paper 004, Figure 2 and D.4).

Each reply joins the discussion at once; at the end each analyst gives a verdict, and the majority decides. The paper
prints no prompts for it. Here analysts use the jury's prompts, so that the only difference is their input: the whole
history in place of retrieved fragments, and no confidence that could end the discussion early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.judging.asking import ROLE, Questions, case_of
from creval_openended.judging.criteria import Criterion, read_criteria
from creval_openended.judging.replies import ANALYSTS, read_final, read_points, read_turn
from creval_openended.judging.verdicts import Verdict, score_of
from creval_openended.judging.wording import Wording

__all__ = ["ChatEval"]


class ChatEval:
    """Scores as those of `openended.jury`. 36 calls for three criteria and two `rounds`, since analysts
    begin anew for each criterion.

    The confidence of a verdict is the share of analysts who gave it. With `curve` verdicts are taken after each round,
    so that one run shows the cost of 1, 2 and 3 rounds; the last one counts. `words` limits a turn.
    """

    def __init__(
        self, criteria: Sequence[Mapping[str, str]], rounds: int = 2, words: int = 150, curve: bool = False
    ) -> None:
        self._criteria = read_criteria(criteria)
        self._rounds, self._words, self._curve = rounds, words, curve

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the beginnings, turns and verdicts of three analysts for each criterion."""
        calls = len(self._criteria) * 3 * (1 + self._rounds + (self._rounds if self._curve else 1))
        return {ROLE: (calls, 2 * calls)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Judge one solution after the other."""
        return [await self._score_sample(item, context) for item in items]

    async def _score_sample(self, item: ScorerInput, context: Context) -> Score:
        questions = Questions(context, case_of(item, context))
        wording = Wording(context, item.doc, self._criteria)

        async def judge(criterion: Criterion) -> Verdict:
            return await self._discussed(criterion, questions, wording)

        return await score_of(self._criteria, judge, questions, {"method": "chateval"})

    async def _discussed(self, criterion: Criterion, questions: Questions, wording: Wording) -> Verdict:
        said: list[str] = []
        for analyst in ANALYSTS:
            fields = {**wording.fields(analyst, criterion, "", self._words), **wording.start()}
            settings = {"draw": self._criteria.index(criterion)}  # the same question, but another discussion
            _, text = await questions.ask("initialisation", f"start_{analyst}", fields, read_points, **settings)
            said.append(f"{analyst} analyst: {text}")
        verdicts: list[bool] = []
        for round_ in range(1, self._rounds + 1):
            for analyst in ANALYSTS:
                fields = wording.fields(analyst, criterion, "\n\n".join(said), self._words)
                read = partial(read_turn, speaker=analyst)
                _, text = await questions.ask(f"round {round_}", "turn", fields, read)
                said.append(f"{analyst} analyst: {text}")
            if self._curve or round_ == self._rounds:
                verdicts = []
                for analyst in ANALYSTS:
                    fields = wording.fields(analyst, criterion, "\n\n".join(said), self._words)
                    phase = f"verdict after round {round_}"
                    fulfilled, _ = await questions.ask(phase, "verdict", fields, read_final, temperature=0)
                    verdicts.append(fulfilled)
        won = sum(verdicts) * 2 > len(verdicts)
        share = verdicts.count(won) / len(verdicts)
        return Verdict(won, share, {"verdicts": verdicts, "rounds": self._rounds, "turns": said})
