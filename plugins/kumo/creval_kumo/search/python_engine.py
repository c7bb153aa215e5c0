"""The pruned search in plain Python: for machines without numba, for large instances, and as an independent check.

It has the optimizations of the compiled kernel (`kernel.py` says why each preserves the value), implemented
independently of its arrays: dictionaries, unbounded integers, recursion.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from creval_kumo.bits import bits
from creval_kumo.search.limits import Answer, Budget, Limits
from creval_kumo.search.puzzle import EPSILON, Puzzle

__all__ = ["PythonEngine"]

_BYTES_A_ROW, _BYTES_A_MOVE = 1_000, 250  # measured; a row of 35 actions with 105 outcomes takes about 27 kB


@dataclass
class _Row:
    """The data of one truth set that does not depend on the actions left."""

    truths: int
    related: int
    moves: dict[int, tuple[tuple[int, float], ...]]
    """Per related action, the live next sets with their probabilities, the smallest first."""
    classes: list[int]
    """Masks of two or more interchangeable actions."""
    bounds: dict[int, float] = field(default_factory=dict)

    def canonical(self, actions: int) -> int:
        """Return the actions that matter here, each class represented by its lowest members."""
        actions &= self.related
        for members in self.classes:
            left = (actions & members).bit_count()
            actions &= ~members
            for action in bits(members)[:left]:
                actions |= 1 << action
        return actions


class PythonEngine:
    """Branch and bound over (truths, actions) with a memo of exact values and lower bounds."""

    name = "python"

    def __init__(self, puzzle: Puzzle, horizon: int, budget: Budget | None = None) -> None:
        self.puzzle = puzzle
        self.horizon = horizon
        self.rows: dict[int, _Row] = {}
        self.memo: dict[tuple[int, int], Answer] = {}
        self._budget = budget or Budget(Limits(None, None, None))
        self._row_size = _BYTES_A_ROW + _BYTES_A_MOVE * sum(map(len, puzzle.outcomes))

    def below(self, truths: int, actions: int, bound: float, budget: Budget, only: int = -1) -> Answer:
        """See `Engine.below`."""
        row = self._row(truths)
        self._budget = budget
        if only >= 0:
            return self._open(row, actions & row.related, bound, only)
        return self._search(row, row.canonical(actions), bound)

    def promising(self, truths: int, actions: int) -> tuple[int, tuple[tuple[int, float], ...]]:
        """Return the first action with the smallest lower bound, and its live next sets with their probabilities."""
        row = self._row(truths)
        action = self._ordered(row, actions & row.related, -1)[0][1]
        return action, row.moves[action]

    def _search(self, row: _Row, actions: int, bound: float) -> Answer:
        key = (row.truths, actions)
        known = self.memo.get(key)
        if known is not None and (known.exact or known.value >= bound):
            return known
        answer = self._open(row, actions, bound, -1)
        if answer.exact or known is None or answer.value > known.value:
            self.memo[key] = answer
        return answer

    def _open(self, row: _Row, actions: int, bound: float, only: int) -> Answer:
        self._budget.spend(1)
        tries = self._ordered(row, actions, only)
        best, cut, low = math.inf, bound, math.inf
        for promised, action, live in tries:
            if promised >= cut:
                low = min(low, promised)
                break
            total = promised
            for child, chance, least in live:
                rest = child.canonical(actions & ~(1 << action))
                answer = self._search(child, rest, least + (cut - total) / chance)
                total += chance * (answer.value - least)
                if not answer.exact:
                    total = max(total, cut)
                if total >= cut:
                    break
            low = min(low, total)
            if total < cut:
                best = cut = total
        return Answer(best, True) if best < bound else Answer(low, False)

    def _ordered(self, row: _Row, actions: int, only: int) -> list[tuple[float, int, list[tuple[_Row, float, float]]]]:
        """Return the actions to try with a lower bound and their live moves, most promising first."""
        levels: dict[int, int] = {}
        for truth in bits(row.truths):
            count = (actions & self.puzzle.actions_of[truth]).bit_count()
            levels[count] = levels.get(count, 0) | 1 << truth
        tries = []
        for action in bits(actions) if only < 0 else [only]:
            live = []
            total = 1.0
            for truths, chance in row.moves[action]:
                related = self.puzzle.related[action] & truths
                if related & levels.get(1, 0):
                    continue
                steps = min(count for count, members in levels.items() if members & truths)
                steps -= bool(related & levels[steps])
                child = self._row(truths)
                known = self.memo.get((truths, child.canonical(actions & ~(1 << action))))
                least = max(self._relaxed(child, steps), known.value if known else 0.0)
                live.append((child, chance, least))
                total += chance * least
            if not live:
                return [(total, action, live)]  # certainly ends play: no action is better
            tries.append((total, action, live))
        return sorted(tries, key=lambda attempt: attempt[:2])

    def _relaxed(self, row: _Row, steps: int) -> float:
        """Return the value of the game of at most `steps` steps with repeatable actions; a lower bound."""
        steps = min(steps, self.horizon)
        if steps <= 0:
            return 0.0
        if steps not in row.bounds:
            self._budget.check()
            best = math.inf
            for moves in row.moves.values():
                total = 0.0
                for truths, chance in moves:
                    total += chance * (self._relaxed(self._row(truths), steps - 1) if steps > 1 else 0.0)
                    if total >= best:
                        break
                best = min(best, total)
            row.bounds[steps] = 1.0 + best
            self._budget.nodes += 1
        return row.bounds[steps]

    def _row(self, truths: int) -> _Row:
        row = self.rows.get(truths)
        if row is None:
            self._budget.check_memory(len(self.rows) * self._row_size)
            moves = {}
            alike: dict[tuple[object, int], int] = {}
            for action, related in enumerate(self.puzzle.related):
                if related & truths:
                    after = Counter(truths & ~ruled_out for ruled_out in self.puzzle.outcomes[action])
                    moves[action] = self._moves(after)
                    # Sets that end play count too: on fewer truths their weights differ. The empty set never counts.
                    weighing = tuple(sorted((left, number) for left, number in after.items() if left))
                    alike[weighing, related & truths] = alike.get((weighing, related & truths), 0) | 1 << action
            classes = [members for members in alike.values() if members & (members - 1)]
            row = _Row(truths, sum(1 << action for action in moves), moves, classes)
            self.rows[truths] = row
        return row

    def _moves(self, after: Mapping[int, int]) -> tuple[tuple[int, float], ...]:
        """Return the live next sets with their probabilities, given all next sets with their number of outcomes."""
        total = sum(left.bit_count() * number for left, number in after.items()) + EPSILON
        live = [
            (left, left.bit_count() * number / total)
            for left, number in after.items()
            if left.bit_count() > self.puzzle.valid
        ]
        return tuple(sorted(live, key=lambda move: (move[0].bit_count(), move[0])))
