"""Optimal play of a game by names: the policy of Algorithm 3 (paper 002) and the golden run on its observations."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.errors import ScoringError
from creval_kumo.instance import Instance
from creval_kumo.search.limits import Limits
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.solver import EngineName, OptimalSearch, Proof

__all__ = ["GoldenRun", "OptimalPlayer", "golden_of", "golden_run", "puzzle_of"]

_GAME_KEYS = ("domain", "seed", "truths", "actions", "valid_truths", "observations", "outcomes")


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """Tests in order, then the prediction. `compat_length` counts the prediction twice, as the original does."""

    tests: tuple[str, ...]
    prediction: str

    @property
    def compat_length(self) -> int:
        """Tests + 2."""
        return len(self.tests) + 2


def puzzle_of(instance: Instance) -> Puzzle:
    """The game as bit masks; bits follow the order of its truths and actions."""
    exclusions = [[truths for _, truths in action.outcomes] for action in instance.actions]
    return Puzzle.from_names(instance.truths, exclusions)


class OptimalPlayer:
    """Knows the best action in every state of one game; keeps its memo."""

    def __init__(self, instance: Instance, limits: Limits | None = None, engine: EngineName = "auto") -> None:
        self.instance = instance
        self.puzzle = puzzle_of(instance)
        self.search = OptimalSearch(self.puzzle, limits, engine)

    def prove(self) -> Proof:
        """E[S] of the whole game, or its bounds at a limit."""
        return self.search.prove()

    def best(self, taken: Sequence[str]) -> str | None:
        """Return the action to take after `taken`, or None where play ends (see `prediction`).

        Of equally good actions the first in the game's order is taken. Raises NotProvenError, a ScoringError, where
        a limit ends the search before the best action is proven.
        """
        action = self.search.best_action(*self._state(taken))
        return None if action is None else self.instance.actions[action].name

    def is_optimal(self, taken: Sequence[str], action: str) -> bool:
        """Whether taking `action` after `taken` is optimal."""
        return self.search.is_optimal(*self._state(taken), self.instance.action_names.index(action))

    def prediction(self, taken: Sequence[str]) -> str:
        """Return the truth to name where play ends: the only one left, or one that no action left can rule out."""
        truth = self.search.prediction(*self._state(taken))
        if truth is None:
            raise ScoringError(
                "the observations rule out every truth", where=f"{self.instance.domain} instance {self.instance.seed}"
            )
        return self.instance.truths[truth]

    def run(self) -> GoldenRun:
        """Return the golden run on the game's observations."""
        tests: list[str] = []
        while (action := self.best(tests)) is not None:
            tests.append(action)
        return GoldenRun(tuple(tests), self.prediction(tests))

    def _state(self, taken: Sequence[str]) -> tuple[int, int]:
        left = set(self.instance.left(taken))
        truths = sum(1 << i for i, name in enumerate(self.instance.truths) if name in left)
        actions = sum(1 << i for i, name in enumerate(self.instance.action_names) if name not in taken)
        return truths, actions


def golden_of(instance: Instance, limits: Limits | None = None, engine: EngineName = "auto") -> GoldenRun:
    """Return the golden run of a game."""
    return OptimalPlayer(instance, limits, engine).run()


def golden_run(doc: Mapping[str, Any]) -> GoldenRun:
    """Return the golden run of a game's doc; remembered, since every model and repeat needs the same."""
    return _golden(json.dumps({key: doc[key] for key in _GAME_KEYS}, sort_keys=True))


@functools.lru_cache(maxsize=4096)
def _golden(text: str) -> GoldenRun:
    return golden_of(Instance.from_doc(json.loads(text)))
