"""Optimal play of small games in plain Python, well under a millisecond per game.

Value, policy and ties are those of `search.solver.OptimalSearch`. Tables over all sets of actions make the base
cases of Algorithm 3 one look-up, which is worthwhile for few actions; no branch is cut that could contain the optimum.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from creval_kumo.bits import bits
from creval_kumo.search.puzzle import EPSILON, Puzzle
from creval_kumo.search.solver import TIE, GoldenMoves

__all__ = ["MAX_SMALL", "SmallGame"]

MAX_SMALL = 10
"""Most truths and most actions of a small game."""

Moves = tuple[tuple[int, float], ...]


class SmallGame:
    """Optimal play of one game of at most MAX_SMALL truths and actions."""

    def __init__(self, puzzle: Puzzle) -> None:
        if max(puzzle.n_truths, puzzle.n_actions) > MAX_SMALL:
            raise ValueError(f"a small game has at most {MAX_SMALL} truths and actions")
        self.puzzle = puzzle
        self._loose = _loose_truths(puzzle)
        self._relevant: dict[int, int] = {}
        self._memo: dict[int, float] = {}

    def ends(self, truths: int, actions: int) -> bool:
        """Return whether play ends: only valid truths are left, or some truth left is related to no action left."""
        return truths.bit_count() <= self.puzzle.valid or bool(truths & self._loose[actions])

    def value(self, truths: int, actions: int) -> float:
        """Return E[S] of a state, in test actions."""
        return 0.0 if self.ends(truths, actions) else self._value(truths, actions & self._relevant_to(truths))

    def best_action(self, truths: int, actions: int) -> int | None:
        """Return the first action of optimal value, or None if play has ended."""
        if self.ends(truths, actions):
            return None
        actions &= self._relevant_to(truths)
        limit = self._value(truths, actions) + TIE
        return next(action for action in bits(actions) if self._attains(truths, actions, action, limit))

    def golden_run(self, observed: Sequence[int]) -> GoldenMoves:
        """Play optimally; `observed[a]` is the mask of the truths that action `a`'s observation rules out."""
        truths, actions = self.puzzle.all_truths, self.puzzle.all_actions
        tests: list[int] = []
        while (action := self.best_action(truths, actions)) is not None:
            tests.append(action)
            truths &= ~observed[action]
            actions &= ~(1 << action)
        certain = truths & self._loose[actions] or truths
        return GoldenMoves(tuple(tests), next(iter(bits(certain)), None))

    def _value(self, truths: int, actions: int) -> float:
        """Return E[S] of a state that is not a base case; `actions` are all related to some of the truths."""
        key = truths << MAX_SMALL | actions
        known = self._memo.get(key)
        if known is not None:
            return known
        best = math.inf
        for least, rest, live in self._tries(truths, actions):
            if least >= best:
                break
            total = least
            for left, chance in live:
                total += chance * (self._value(left, rest & self._relevant_to(left)) - 1.0)
                if total >= best:
                    break
            best = min(best, total)
        self._memo[key] = best
        return best

    def _tries(self, truths: int, actions: int) -> list[tuple[float, int, Moves]]:
        """Return, per action, a lower bound of its value (each live next state takes a step), the rest, and its moves.

        An action that always ends play is optimal, and then the only one returned.
        """
        tries = []
        valid, loose = self.puzzle.valid, self._loose
        for action, outcomes in enumerate(self.puzzle.outcomes):
            if actions >> action & 1:
                rest = actions ^ 1 << action
                without = loose[rest]
                least = 1.0
                live = []
                for move in _moves(outcomes, truths, valid):
                    if not move[0] & without:
                        live.append(move)
                        least += move[1]
                if not live:
                    return [(1.0, rest, ())]
                tries.append((least, rest, tuple(live)))
        tries.sort()
        return tries

    def _attains(self, truths: int, actions: int, action: int, limit: float) -> bool:
        rest = actions ^ 1 << action
        total = 1.0
        for left, chance in _moves(self.puzzle.outcomes[action], truths, self.puzzle.valid):
            if not left & self._loose[rest]:
                total += chance * self._value(left, rest & self._relevant_to(left))
                if total >= limit:
                    return False
        return total < limit

    def _relevant_to(self, truths: int) -> int:
        found = self._relevant.get(truths)
        if found is None:
            related = enumerate(self.puzzle.related)
            found = self._relevant[truths] = sum(1 << action for action, mask in related if mask & truths)
        return found


def _loose_truths(puzzle: Puzzle) -> list[int]:
    """Return, per set of actions, the truths that none of them is related to."""
    loose = [puzzle.all_truths]
    for related in puzzle.related:
        loose += [mask & ~related for mask in loose]
    return loose


@functools.lru_cache(maxsize=100_000)
def _moves(outcomes: tuple[int, ...], truths: int, valid: int) -> Moves:
    """Return the next truth sets of an action at which play continues, each once with its probability (Eq. 2)."""
    weights: dict[int, int] = {}
    total = 0
    for ruled_out in outcomes:
        left = truths & ~ruled_out
        total += left.bit_count()
        weights[left] = weights.get(left, 0) + left.bit_count()
    return tuple((left, weight / (total + EPSILON)) for left, weight in weights.items() if left.bit_count() > valid)
