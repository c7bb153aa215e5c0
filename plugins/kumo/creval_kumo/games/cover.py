"""The selection of Algorithm 2 by exact search: the same result as SAT, many times faster for few truths.

The search raises TooHard after a number of steps, and is not used if the limit on actions could bind; the SAT solver
then decides. Both find the same selection, since it depends only on the order of the candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Candidate", "TooHard", "first_cover"]

MAX_STEPS = 3000


class Candidate(NamedTuple):
    """An outcome that contradicts no valid truth: its action, its index there, the invalid truths it rules out."""

    action: int
    outcome: int
    rules_out: int
    """Bit mask, not empty."""


class TooHard(Exception):
    """The search took more than MAX_STEPS."""


def first_cover(candidates: Sequence[Candidate], invalid: int) -> list[Candidate] | None:
    """Return the selection, or None if there is none.

    Some selected outcome rules out each truth of the mask `invalid`, and no two are of the same action. The candidates
    are taken in order: each is left out unless every solution that agrees with the choices so far needs it. Raises
    TooHard.
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
        """Return the indices, from `start`, of outcomes of unused actions that rule out all of `need`, or None."""
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
        """Return the outcomes that rule out the truth with the fewest such outcomes, last first."""
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
