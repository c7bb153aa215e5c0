"""Scorers over several programs for one problem: whether any passes, and the creativity of the best one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_neocoder.programs.verdicts import Verdict
from creval_neocoder.task.docs import Tests
from creval_neocoder.task.techniques import AUGMENTER, TRIES, detect, lacking
from creval_neocoder.task.tests import NO_SOUND_CASE, Judge
from creval_neocoder.techniques.creativity import follows, new_share

__all__ = ["BestCreativity", "Merit", "PassAny", "choose"]

Ties = Literal["merit", "first"]


class Merit(NamedTuple):
    """The merit of one program. `share` of its techniques that no human used; None without human solutions."""

    correct: bool
    follow: bool
    share: float | None

    @property
    def convergent(self) -> bool:
        """Return whether it passes and follows (Eq. 2)."""
        return self.correct and self.follow

    @property
    def neogauge(self) -> float:
        """Return the product of Eq. 4."""
        return (self.share or 0.0) * self.convergent


_NO_PROGRAM = "none of the answers holds a Python program"


def choose(merits: Sequence[Merit], ties: Ties = "merit") -> int:
    """Return the index of the best program: the largest product (Section 5.3).

    Nearly all products are 0. `merit` then takes the one that passes and follows, then the largest share of new
    techniques, then the first; `first` takes the first, as the paper's Table 5 suggests (sampling lowers its
    convergent creativity at t = 0).
    """

    def order(place: int) -> tuple[float, ...]:
        each = merits[place]
        return (each.neogauge,) if ties == "first" else (each.neogauge, each.convergent, each.share or 0.0)

    return max(range(len(merits)), key=order)


def _programs(item: ScorerInput) -> list[tuple[str, str]]:
    """Return the parsed programs, each with the answer that contained it."""
    return [(read.value, text) for read, text in zip(item.parsed, item.answers, strict=True) if read.ok]


def _tries(item: ScorerInput) -> int:
    return int(item.outcome.get("samples", len(item.answers)))


class PassAny:
    """Scores `pass@5` and `correct_sound@5` (whether any of the five programs passes) and `pass@1`, the share of those.

    The share is over all tries, including those without a program. Only the sandbox decides.
    """

    def __init__(self, tests: Tests = "annotated", seconds: float = 5.0, released: bool = False) -> None:
        self._tests: Tests = tests
        self._seconds = seconds
        self._released = released

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Run every program of every item."""
        judge = Judge(context.resource("sandbox"), self._tests, self._seconds, self._released)
        return list(await asyncio.gather(*(self._score_sample(judge, item) for item in items)))

    async def _score_sample(self, judge: Judge, item: ScorerInput) -> Score:
        programs = _programs(item)
        missing = {} if any(item.doc["sound"]) else {"correct_sound@5": NO_SOUND_CASE}
        if not programs:
            return Score({}, failure=_NO_PROGRAM, missing=missing)
        found = [await judge.verdict(program, text, item.doc) for program, text in programs]
        sound = [await judge.on_sound(program, item.doc) for program, _ in programs]
        passed = sum(each is Verdict.ACCEPTED for each in found)
        scores = {"pass@5": float(passed > 0), "pass@1": passed / _tries(item)}
        if sound[0] is not None:
            scores["correct_sound@5"] = float(Verdict.ACCEPTED in sound)
        return Score(scores, {"verdicts": [each.value for each in found]}, missing=missing)


class BestCreativity:
    """Scores `constraint_following`, `convergent`, `divergent` and `neogauge` (Eqs. 2 to 4) of the best program.

    Every program is run, and the augmenter lists its techniques. `choose` defines the best one.
    """

    def __init__(
        self,
        tests: Tests = "annotated",
        seconds: float = 5.0,
        released: bool = False,
        listed: bool = False,
        ties: Ties = "merit",
    ) -> None:
        self._tests: Tests = tests
        self._seconds = seconds
        self._released = released
        self._listed = listed
        self._ties: Ties = ties

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the calls of the augmenter: one per program, up to three if its lists are unreadable."""
        programs = max(expected.answers, int(getattr(expected.protocol, "k", 1)))
        return {AUGMENTER: (1, TRIES * programs)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Score the best program of each item."""
        judge = Judge(context.resource("sandbox"), self._tests, self._seconds, self._released)
        return list(await asyncio.gather(*(self._score_sample(judge, item, context) for item in items)))

    async def _score_sample(self, judge: Judge, item: ScorerInput, context: Context) -> Score:
        programs, missing = _programs(item), lacking(item.doc, self._released)
        if not programs:
            return Score({}, failure=_NO_PROGRAM, missing=missing)
        lists = [(await detect(program, item.key, item.doc, context)).names for program, _ in programs]
        merits = [
            await self._merit(judge, item, pair, techniques) for pair, techniques in zip(programs, lists, strict=True)
        ]
        place = choose(merits, self._ties)
        best = merits[place]
        scores = {"constraint_following": float(best.follow), "convergent": float(best.convergent)}
        if best.share is not None:
            scores |= {"divergent": best.share, "neogauge": best.neogauge}
        given = {name: value for name, value in scores.items() if name not in missing}
        details = {"chosen": place, "techniques": list(lists[place]), "all": [list(each) for each in lists]}
        return Score(given, details, missing=missing)

    async def _merit(self, judge: Judge, item: ScorerInput, pair: tuple[str, str], techniques: Sequence[str]) -> Merit:
        correct = await judge.verdict(*pair, item.doc) is Verdict.ACCEPTED
        human = item.doc["human"]
        share = new_share(techniques, human, self._listed) if human else None
        return Merit(correct, follows(techniques, item.doc["constraints"]), share)
