"""The golden run of a game: optimal play on what it will really observe (Algorithm 3's policy)."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.errors import MissingPartError, ScoringError
from creval_kumo.instance import Instance
from creval_kumo.search.compiled_engine import MAX_BITS, CompiledEngine, available
from creval_kumo.search.limits import Budget, Engine, Limits, OutOfBudget
from creval_kumo.search.puzzle import Puzzle, bits
from creval_kumo.search.python_engine import PythonEngine

__all__ = ["GoldenRun", "OptimalPlayer", "golden_run"]

_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """Tests in order, then the prediction. `compat_length` counts the prediction twice, as the original does."""

    tests: tuple[str, ...]
    prediction: str

    @property
    def compat_length(self) -> int:
        return len(self.tests) + 2


class OptimalPlayer:
    """Knows the best action in every state of one game; keeps its memo."""

    def __init__(self, instance: Instance, limits: Limits | None = None) -> None:
        self.instance = instance
        exclusions = [[truths for _, truths in action.outcomes] for action in instance.actions]
        self.puzzle = Puzzle.from_names(instance.truths, exclusions)
        self._limits = limits or Limits()
        small = max(self.puzzle.n_truths, self.puzzle.n_actions) <= MAX_BITS
        fast = available() and small and self.puzzle.n_actions > 8  # compiled code pays off on the larger games
        self._engine: Engine = (CompiledEngine if fast else PythonEngine)(self.puzzle, self.puzzle.n_actions)

    def best(self, taken: Sequence[str]) -> str | None:
        """Return the action to take after `taken`, or None where play ends (see `prediction`).

        Of equally good actions the first in the game's order is taken. Raises ScoringError where the limits end the
        search before the best action is proven.
        """
        truths, actions = self._state(taken)
        if self.puzzle.ends(truths, actions):
            return None
        budget = Budget(self._limits)
        best, chosen = math.inf, -1
        try:
            for action in bits(actions):
                if self.puzzle.related[action] & truths:
                    answer = self._engine.below(truths, actions, best - _TIE, budget, only=action)
                    if answer.exact and answer.value < best - _TIE:
                        best, chosen = answer.value, action
        except OutOfBudget as error:
            raise _not_proven(self.instance) from error
        return self.instance.actions[chosen].name

    def prediction(self, taken: Sequence[str]) -> str:
        """Return the truth to name where play ends: the only one left, or one that no action left can rule out."""
        truths, actions = self._state(taken)
        for truth in bits(truths):
            if truths & (truths - 1) == 0 or not self.puzzle.actions_of[truth] & actions:
                return self.instance.truths[truth]
        raise ScoringError("play does not end here", where=self.instance.domain)

    def _state(self, taken: Sequence[str]) -> tuple[int, int]:
        left = set(self.instance.left(taken))
        truths = sum(1 << i for i, name in enumerate(self.instance.truths) if name in left)
        actions = sum(1 << i for i, name in enumerate(self.instance.action_names) if name not in taken)
        return truths, actions


def _not_proven(instance: Instance) -> Exception:
    message = f"the optimal play of {instance.domain} {instance.seed} was not proven within the limits"
    if not available():
        return MissingPartError(message, cure="Install the compiled search: pip install 'creval-kumo[fast]'")
    return ScoringError(message)


def golden_run(doc: Mapping[str, Any]) -> GoldenRun:
    """Return the golden run of a game's doc; remembered, since every model and repeat needs the same."""
    keys = ("domain", "seed", "truths", "actions", "valid_truths", "observations", "outcomes")
    return _golden(json.dumps({key: doc[key] for key in keys}, sort_keys=True))


@functools.lru_cache(maxsize=4096)
def _golden(text: str) -> GoldenRun:
    player = OptimalPlayer(Instance.from_doc(json.loads(text)))
    tests: list[str] = []
    while (action := player.best(tests)) is not None:
        tests.append(action)
    return GoldenRun(tuple(tests), player.prediction(tests))
