"""Scorer `openended.ranks`: rank all solutions of a task by novelty, by tiers and then within them (Appendix K).

Each solution is put into one of four tiers; merge sort then compares the solutions of a tier in pairs, which takes far
fewer questions than all pairs. Ranks are over the samples of the run, 1 the most novel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from creval.plugin import Context, Expected, Score, ScorerInput
from creval_openended.judging.asking import ROLE, Case, Questions, case_of
from creval_openended.judging.replies import UnreadableReplyError
from creval_openended.novelty.sorting import most_comparisons, ranked

__all__ = ["RankedByPeople"]

_TIERS = ("1", "2", "3", "4")
T = TypeVar("T")


class RankedByPeople:
    """Scores `novelty_rank` (1 = most novel) and `novelty_tier` (1 to 4) of all samples of a task together.

    `pairs: false` leaves out the comparisons: solutions of one tier then share its mean rank.
    """

    def __init__(self, pairs: bool = True) -> None:
        self._pairs = pairs

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return one call per solution for its tier, and some comparisons."""
        return {ROLE: (1, 2 + most_comparisons(2, "merge"))}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Sort all into tiers, then each tier."""
        cases = [case_of(item, context) for item in items]
        tiers: dict[str, list[int]] = {tier: [] for tier in _TIERS}
        for place, case in enumerate(cases):
            tier, _ = await Questions(context, case).ask("tier", "tier", {}, _one_of(_TIERS))
            tiers[tier].append(place)
        ranks: dict[int, tuple[float, str]] = {}
        for tier, members in tiers.items():
            ranks |= await self._within(tier, members, cases, context, len(ranks))
        return [_score(*ranks[place]) for place in range(len(cases))]

    async def _within(
        self, tier: str, members: Sequence[int], cases: Sequence[Case], context: Context, before: int
    ) -> dict[int, tuple[float, str]]:
        """Return rank and tier of the members of a tier; `before` solutions are more novel than all of them."""
        if not self._pairs:
            return {place: (before + (len(members) + 1) / 2, tier) for place in members}

        async def wins(one: int, other: int) -> bool:
            rival = {"rival_problem": cases[other].problem, "rival_solution": cases[other].solution}
            said, _ = await Questions(context, cases[one]).ask("pair", "more_novel", rival, _one_of(("QA1", "QA2")))
            return said == "QA1"

        order = await ranked(members, wins, "merge")
        return {place: (float(before + number), tier) for number, place in enumerate(order, 1)}


def _score(rank: float, tier: str) -> Score:
    return Score({"novelty_rank": rank, "novelty_tier": float(tier)}, {"novelty": {"rank": rank, "tier": int(tier)}})


def _one_of(words: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        said = text.strip().strip("\"'.").upper()
        if said not in words:
            raise UnreadableReplyError(f"{said[:40]!r} is none of {', '.join(words)}")
        return said

    return read
