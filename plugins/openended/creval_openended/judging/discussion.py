"""The discussion of one criterion: rounds of three analysts, their confidence, the verdict of the most confident.

Source: paper 004, Appendix D.2 and M. Analysts speak in the order problem, solution, criterion; a question to another
analyst waits for that analyst's next turn, when it joins the retrieval query and the prompt. Questions unanswered at
the end are recorded as open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, TypeVar

from creval.plugin import ScoringError
from creval_openended.judging.asking import Questions
from creval_openended.judging.criteria import Criterion
from creval_openended.judging.memory import Fragment, Memory
from creval_openended.judging.replies import ANALYSTS, Analyst, Confidence
from creval_openended.judging.reply_forms import Form, Forms
from creval_openended.judging.settings import JurySettings
from creval_openended.judging.verdicts import Verdict
from creval_openended.judging.wording import Wording

__all__ = ["Discussion"]

T = TypeVar("T")
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class _Pending:
    """A pending question: from whom, in which round."""

    by: Analyst
    round: int
    text: str


@dataclass(slots=True)
class _Stage:
    """The end of a round: confidences, and the verdict if one was taken."""

    round: int
    confidences: dict[Analyst, Confidence]
    verdict: bool | None = None
    text: str = ""

    @property
    def mean(self) -> float:
        """Return the mean, rounded, so that three times 0.4 does not exceed 0.4: it often equals a threshold."""
        return round(fmean(each.value for each in self.confidences.values()), _DECIMALS)

    @property
    def decider(self) -> Analyst:
        return max(ANALYSTS, key=lambda each: self.confidences[each].value)  # max keeps the first of equals

    def to_json(self) -> dict[str, Any]:
        return {
            "round": self.round,
            "confidences": {analyst: each.value for analyst, each in self.confidences.items()},
            "stances": {analyst: each.stance for analyst, each in self.confidences.items()},
            "mean": self.mean,
            "decider": self.decider,
            "verdict": self.verdict,
            "text": self.text,
        }


@dataclass(slots=True)
class Discussion:
    """One criterion's discussion over a memory that contains the shared initialisation."""

    questions: Questions
    wording: Wording
    criterion: Criterion
    memory: Memory
    settings: JurySettings
    forms: Forms
    _pending: dict[Analyst, list[_Pending]] = field(default_factory=lambda: {each: [] for each in ANALYSTS})
    _turns: list[dict[str, Any]] = field(default_factory=list)
    _unaddressed: list[str] = field(default_factory=list)

    async def verdict(self) -> Verdict:
        """Discuss to the end. Raises ScoringError if an analyst's reply stays unreadable, and ModelError."""
        points, text = await self._ask("initialisation", "start_criterion", "criterion", "", self.forms.points)
        self.memory.add("criterion", 0, points)
        self._turns.append({"round": 0, "by": "criterion", "seen": [], "text": text})
        stages: list[_Stage] = []
        deciding: _Stage | None = None
        while deciding is None or (self.settings.curve and len(stages) < self.settings.rounds):
            stage = await self._round(len(stages) + 1)
            stages.append(stage)
            ends = deciding is None and self.settings.ends(stage.mean, stage.round)
            if ends or self.settings.curve:
                await self._decide(stage)
            deciding = stage if ends else deciding
        return self._verdict(deciding, stages)

    async def _round(self, number: int) -> _Stage:
        for analyst in ANALYSTS:
            await self._turn(analyst, number)
        return _Stage(number, {analyst: await self._confidence(analyst, number) for analyst in ANALYSTS})

    async def _turn(self, analyst: Analyst, round_: int) -> None:
        pending, self._pending[analyst] = self._pending[analyst], []
        asked = [(each.by, each.text) for each in pending]
        query = self.wording.query("discussion", analyst, self.criterion, [text for _, text in asked])
        seen = self.memory.nearest(query, self.settings.k)
        shown = self.wording.shown([each.text for each in seen], asked)
        form = self.forms.turn(analyst)
        turn, text = await self._ask("discussion", "turn", analyst, shown, form, draw=round_ - 1)
        self.memory.add(analyst, round_, [turn.opinion, *([turn.answers] if asked and turn.answers else [])])
        for whom, questions in turn.questions.items():
            self._pending[whom] += [_Pending(analyst, round_, question) for question in questions]
        self._unaddressed += turn.unaddressed
        sent = [{"from": by, "text": question} for by, question in asked]
        self._turns.append({"round": round_, "by": analyst, "seen": _numbers(seen), "asked": sent, "text": text})

    async def _confidence(self, analyst: Analyst, round_: int) -> Confidence:
        shown, seen = self._retrieved("confidence", analyst, self.settings.j)
        try:
            sure, text = await self._ask(
                "confidence",
                "confidence",
                analyst,
                shown,
                self.forms.confidence,
                draw=round_ - 1,
                temperature=self.settings.confidence_temperature,
            )
        except ScoringError:
            if self.settings.unreadable_confidence is None:
                raise
            sure, text = Confidence(self.settings.unreadable_confidence, None), ""
        self._turns.append(
            {"round": round_, "by": analyst, "seen": _numbers(seen), "confidence": sure.value, "text": text}
        )
        return sure

    async def _decide(self, stage: _Stage) -> None:
        shown, seen = self._retrieved("verdict", stage.decider, self.settings.l)
        phase = "verdict" if not self.settings.curve else f"verdict after round {stage.round}"
        fulfilled, stage.text = await self._ask(
            phase, "verdict", stage.decider, shown, self.forms.verdict, temperature=self.settings.verdict_temperature
        )
        stage.verdict = fulfilled
        about = {"round": stage.round, "by": stage.decider, "seen": _numbers(seen)}
        self._turns.append({**about, "verdict": stage.verdict, "text": stage.text})

    def _retrieved(self, phase: str, analyst: Analyst, count: int) -> tuple[str, Sequence[Fragment]]:
        seen = self.memory.nearest(self.wording.query(phase, analyst, self.criterion, []), count)
        return self.wording.shown([each.text for each in seen], []), seen

    async def _ask(
        self, phase: str, prompt: str, analyst: Analyst, shown: str, form: Form[T], **settings: Any
    ) -> tuple[T, str]:
        fields = self.wording.fields(analyst, self.criterion, shown, self.settings.words)
        return await self.questions.ask(phase, prompt, fields, form, **settings)

    def _verdict(self, deciding: _Stage, stages: Sequence[_Stage]) -> Verdict:
        assert deciding.verdict is not None
        waiting = [{"to": whom, "from": q.by, "text": q.text} for whom, some in self._pending.items() for q in some]
        details = {
            "rounds": deciding.round,
            "decider": deciding.decider,
            "decider_confidence": deciding.confidences[deciding.decider].value,
            "stages": [stage.to_json() for stage in stages],
            "fragments": [
                {"number": each.number, "by": each.by, "round": each.round, "text": each.text}
                for each in self.memory.fragments
            ],
            "turns": self._turns,
            "open_questions": waiting,
            "unaddressed": self._unaddressed,
        }
        return Verdict(deciding.verdict, deciding.mean, details)


def _numbers(fragments: Sequence[Fragment]) -> list[int]:
    return [each.number for each in fragments]
