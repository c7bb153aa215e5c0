"""The selection of Algorithm 2 by exact search: what SAT finds, many times faster where there are few truths.

It stops with TooHard after a number of steps, and where the limit on actions could bind it does not apply at all; then
the SAT solver decides. Both find the same selection, since that is fixed by the order of the candidates alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Candidate", "TooHard", "first_cover"]

MAX_STEPS = 3000


class Candidate(NamedTuple):
    """An outcome that contradicts no valid truth: its action, its place there, the invalid truths it rules out."""

    action: int
    outcome: int
    rules_out: int
    """Bit mask, not empty."""


class TooHard(Exception):
    """The search took more than MAX_STEPS."""


def first_cover(candidates: Sequence[Candidate], invalid: int) -> list[Candidate] | None:
    """Return the selection, None if there is none.

    Each truth of the mask `invalid` is ruled out by some selected outcome, and no two are of one action. Going
    through the candidates in order, each is left out unless every solution that agrees with the choices so far needs
    it. Raises TooHard.
    """
    search = _Search(candidates, invalid)
    witness = search.solution(0, invalid, 0)
    if witness is None:
        return None
    selected = []
    used = 0
    while invalid:
        place = min(witness)
        without = search.solution(place + 1, invalid, used)
        if without is not None:
            witness = without
            continue
        chosen = candidates[place]
        selected.append(chosen)
        invalid &= ~chosen.rules_out
        used |= 1 << chosen.action
        witness.remove(place)
    return selected


class _Search:
    def __init__(self, candidates: Sequence[Candidate], invalid: int) -> None:
        self._candidates = candidates
        self._steps = 0
        self._of_truth: dict[int, list[int]] = {}
        while invalid:
            truth = invalid & -invalid
            invalid ^= truth
            self._of_truth[truth] = [place for place, one in enumerate(candidates) if one.rules_out & truth]

    def solution(self, start: int, need: int, used: int) -> list[int] | None:
        """The places, from `start` on, of outcomes of unused actions that rule out all of `need`, or None."""
        if not need:
            return []
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooHard
        for place in self._choices(start, need, used):
            one = self._candidates[place]
            rest = self.solution(start, need & ~one.rules_out, used | 1 << one.action)
            if rest is not None:
                rest.append(place)
                return rest
        return None

    def _choices(self, start: int, need: int, used: int) -> list[int]:
        """The outcomes that rule out the truth with the fewest of them, the last first: they are the first to stay."""
        fewest: list[int] | None = None
        for truth, places in self._of_truth.items():
            if need & truth:
                free = [p for p in places if p >= start and not used >> self._candidates[p].action & 1]
                if fewest is None or len(free) < len(fewest):
                    fewest = free
                    if not free:
                        break
        assert fewest is not None, "something is needed"
        return fewest[::-1]
