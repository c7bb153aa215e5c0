"""Proven optimal play of one instance: value, policy and golden runs.

The search is deterministic: the engines' values agree up to rounding, and of actions of equal value the first in the
instance's order is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from creval_kumo.bits import bits
from creval_kumo.search.compiled_engine import MAX_BITS, CompiledEngine, available
from creval_kumo.search.limits import PYTHON_NODES, Answer, Budget, Engine, Limits, NotProvenError, OutOfBudget
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.python_engine import PythonEngine

__all__ = ["TIE", "EngineName", "GoldenMoves", "OptimalSearch", "Proof"]

TIE = 1e-7
"""Actions whose values differ by less are equally good. Algorithm 3's epsilon alone moves values by about 1e-9;
real differences are fractions of small whole numbers."""

WINDOW = 0.05
"""Width of the search windows, from the lower bound upwards."""

SMALL = 1000
"""Nodes that plain Python may spend before the compiled kernel is loaded; easy games need fewer."""

GREEDY = 4_000
"""Nodes that plain Python may spend on the upper bound of an unproven value."""

EngineName = Literal["auto", "python", "compiled"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Bounds of E[S], in test actions: `lower` <= E[S] <= `upper`, equal if `proven`."""

    proven: bool
    lower: float
    upper: float
    nodes: int
    seconds: float
    engine: str

    @property
    def value(self) -> float:
        """E[S]. Raises NotProvenError if only bounds are known."""
        if not self.proven:
            raise NotProvenError(self.lower, self.upper, self.nodes)
        return self.lower


@dataclass(frozen=True, slots=True)
class GoldenMoves:
    """One optimal game: the tests in order and the predicted truth (None: no truth is left)."""

    tests: tuple[int, ...]
    prediction: int | None


class OptimalSearch:
    """The search for one instance; its memo is kept between queries.

    Args:
        puzzle: the instance as bit masks.
        limits: the limits of one query.
        engine: `auto` starts in plain Python and switches to the compiled kernel if numba is installed and the
            instance is not small; `python` and `compiled` force one engine.
    """

    def __init__(self, puzzle: Puzzle, limits: Limits | None = None, engine: EngineName = "auto") -> None:
        self.puzzle = puzzle
        horizon = _horizon(puzzle)
        fits = max(puzzle.n_truths, puzzle.n_actions) <= MAX_BITS
        may_compile = engine == "compiled" or (engine == "auto" and fits and available())
        self.limits = limits or (Limits() if may_compile else Limits(PYTHON_NODES))
        self._engine: Engine = (
            CompiledEngine(puzzle, horizon) if engine == "compiled" else PythonEngine(puzzle, horizon)
        )
        self._may_change = engine == "auto" and may_compile

    def prove(self, truths: int | None = None, actions: int | None = None) -> Proof:
        """Return E[S] of a state (default: the start) or, at a limit, the bounds reached."""
        truths, actions = self._state(truths, actions)
        budget = Budget(self.limits.within(None, 0.8))
        if self.puzzle.ends(truths, actions):
            return Proof(True, 0.0, 0.0, 0, budget.seconds, self._engine.name)
        lower = 1.0
        try:
            while True:
                answer = self._below(truths, actions, lower + WINDOW, budget)
                lower = max(lower, answer.value)
                if answer.exact:
                    return Proof(True, answer.value, answer.value, budget.nodes, budget.seconds, self._engine.name)
        except OutOfBudget:
            rest = Budget(self.limits.within(_python_nodes(self.puzzle, GREEDY), 0.2))
            upper = greedy_bound(self.puzzle, truths, actions, rest)
            # The greedy policy may be optimal, but this is not proven.
            return Proof(False, min(lower, upper), upper, budget.nodes, budget.seconds, self._engine.name)

    def action_value(self, truths: int, actions: int, action: int) -> float:
        """Return the expected steps if `action` is taken first, followed by optimal play. Raises NotProvenError."""
        if not self.puzzle.related[action] & truths:
            # The action is used up and nothing else changes; its outcomes share all the weight.
            n_outcomes = len(self.puzzle.outcomes[action])
            weight = truths.bit_count() * n_outcomes
            return 1.0 + weight / (weight + 1e-9) * self.prove(truths, actions & ~(1 << action)).value
        budget = Budget(self.limits)
        lower = 1.0
        try:
            while True:
                answer = self._below(truths, actions, lower + 1.0, budget, action)
                if answer.exact:
                    return answer.value
                lower = answer.value
        except OutOfBudget:
            raise NotProvenError(lower, float(self.puzzle.n_actions), budget.nodes) from None

    def best_action(self, truths: int | None = None, actions: int | None = None) -> int | None:
        """Return the first action of optimal value, or None if play has ended. Raises NotProvenError at a limit."""
        truths, actions = self._state(truths, actions)
        if self.puzzle.ends(truths, actions):
            return None
        value = self.prove(truths, actions).value
        for action in bits(actions):
            if self.puzzle.related[action] & truths and self._attains(truths, actions, action, value):
                return action
        raise AssertionError("an action attains the optimum")

    def is_optimal(self, truths: int, actions: int, action: int) -> bool:
        """Return whether taking `action` in this state is optimal. Raises NotProvenError at a limit."""
        if self.puzzle.ends(truths, actions) or not actions >> action & 1:
            return False
        if not self.puzzle.related[action] & truths:
            return False
        return self._attains(truths, actions, action, self.prove(truths, actions).value)

    def golden_run(self, observed: Sequence[int]) -> GoldenMoves:
        """Play optimally; `observed[a]` is the mask of the truths that action `a`'s observation rules out.

        If some truth left is related to no action left, the first such truth is predicted, as in
        Algorithm 3's third base case: every false truth of a sound instance can be ruled out.
        """
        truths, actions = self.puzzle.all_truths, self.puzzle.all_actions
        tests: list[int] = []
        while (action := self.best_action(truths, actions)) is not None:
            tests.append(action)
            truths &= ~observed[action]
            actions &= ~(1 << action)
        return GoldenMoves(tuple(tests), self.prediction(truths, actions))

    def prediction(self, truths: int, actions: int) -> int | None:
        """Return the truth to predict when play ends, or None if no truth is left."""
        left = bits(truths)
        settled = [truth for truth in left if not self.puzzle.actions_of[truth] & actions]
        return next(iter(settled or left), None)

    def _state(self, truths: int | None, actions: int | None) -> tuple[int, int]:
        return (
            self.puzzle.all_truths if truths is None else truths,
            self.puzzle.all_actions if actions is None else actions,
        )

    def _attains(self, truths: int, actions: int, action: int, value: float) -> bool:
        budget = Budget(self.limits)
        try:
            answer = self._below(truths, actions, value + TIE, budget, action)
        except OutOfBudget:
            raise NotProvenError(value, float(self.puzzle.n_actions), budget.nodes) from None
        return answer.exact

    def _below(self, truths: int, actions: int, bound: float, budget: Budget, only: int = -1) -> Answer:
        try:
            return self._search(truths, actions, bound, budget, only)
        except MemoryError:  # the machine has less than the limit allows
            raise OutOfBudget from None

    def _search(self, truths: int, actions: int, bound: float, budget: Budget, only: int) -> Answer:
        if self._may_change:
            trial = Budget(budget.limits.within(_python_nodes(self.puzzle, SMALL)), budget.nodes, budget.started)
            try:
                answer = self._engine.below(truths, actions, bound, trial, only)
            except OutOfBudget:
                budget.nodes = trial.nodes
                budget.check()
                with budget.paused():
                    self._engine = CompiledEngine(self.puzzle, _horizon(self.puzzle))
                self._may_change = False
            else:
                budget.nodes = trial.nodes
                return answer
        return self._engine.below(truths, actions, bound, budget, only)


def greedy_bound(puzzle: Puzzle, truths: int, actions: int, budget: Budget, nodes: int = 3000) -> float:
    """Return an upper bound of E[S]: the value of always taking the most promising action, for at most `nodes` states.

    A state beyond that, or beyond the budget, counts as if it needed every action related to it.
    """
    engine = PythonEngine(puzzle, 2, budget)
    memo: dict[tuple[int, int], float] = {}

    def value(truths: int, actions: int) -> float:
        if puzzle.ends(truths, actions):
            return 0.0
        live = [action for action in bits(actions) if puzzle.related[action] & truths]
        key = (truths, sum(1 << action for action in live))
        if key not in memo:
            if len(memo) >= nodes:
                return float(len(live))
            memo[key] = float(len(live))
            try:
                budget.check()
                action, moves = engine.promising(*key)
            except OutOfBudget:
                return memo[key]
            memo[key] = 1.0 + sum(chance * value(left, key[1] & ~(1 << action)) for left, chance in moves)
        return memo[key]

    return value(truths, actions)


def _python_nodes(puzzle: Puzzle, nodes: int) -> int:
    """Return the nodes that plain Python may spend, if games of the paper's size (about 60 outcomes) may spend `nodes`.

    A node opens truth sets. Both their number and the work for each grow with the number of outcomes.
    """
    outcomes = sum(map(len, puzzle.outcomes))
    return min(nodes, max(1, nodes * 60**2 // max(1, outcomes**2)))


def _horizon(puzzle: Puzzle) -> int:
    """Return the depth of the relaxed game, so that its bounds never cost more than the search: full for few truth
    sets, otherwise as deep as about ten thousand sequences of outcomes allow."""
    if puzzle.n_truths <= 16:
        return puzzle.n_actions
    branches = sum(len(set(outcomes)) for outcomes in puzzle.outcomes)
    depth = 1
    while branches ** (depth + 1) <= 20_000:
        depth += 1
        if depth >= puzzle.n_actions:
            break
    return depth
