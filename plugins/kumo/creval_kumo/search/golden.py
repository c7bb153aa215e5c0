"""Optimal play of a game by names: the policy of Algorithm 3 (paper 002) and the golden run on its observations."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import ScoringError
from creval_kumo.games.instance import Instance
from creval_kumo.games.reliability import need_certain
from creval_kumo.search.limits import Limits
from creval_kumo.search.listed_golden import listed_run
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.small_games import MAX_SMALL, SmallGame
from creval_kumo.search.solver import EngineName, OptimalSearch, Proof

__all__ = ["GoldenRun", "OptimalPlayer", "game_text", "golden_of", "golden_run", "observed_masks", "puzzle_of"]

_GAME_KEYS = frozenset(
    {"domain", "seed", "truths", "actions", "valid_truths", "observations", "outcomes", "reliability"}
)


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
    """Return the game as bit masks; bits follow the order of its truths and actions.

    Raises UsageError if the game's results are not certain (`reliability` below 1).
    """
    need_certain(instance.reliability, f"{instance.domain} instance {instance.seed}")
    exclusions = [[truths for _, truths in action.outcomes] for action in instance.actions]
    return Puzzle.from_names(instance.truths, exclusions, len(instance.valid_truths))


def observed_masks(instance: Instance) -> list[int]:
    """Return, per action, the mask of the truths that its observation in this game rules out."""
    place = {name: 1 << index for index, name in enumerate(instance.truths)}
    return [
        sum(place[name] for name in action.ruled_out(instance.observations[action.name])) for action in instance.actions
    ]


class OptimalPlayer:
    """Finds the best action in every state of one game; keeps its memo."""

    def __init__(self, instance: Instance, limits: Limits | None = None, engine: EngineName = "auto") -> None:
        self.instance = instance
        self.puzzle = puzzle_of(instance)
        self.search = OptimalSearch(self.puzzle, limits, engine)

    def prove(self) -> Proof:
        """Return E[S] of the whole game, or its bounds if a limit is reached."""
        return self.search.prove()

    def best(self, taken: Sequence[str]) -> str | None:
        """Return the action to take after `taken`, or None if play has ended (see `prediction`).

        Of equally good actions, returns the first in the game's order. Raises NotProvenError, a ScoringError, if
        a limit ends the search before the best action is proven.
        """
        action = self.search.best_action(*self._state(taken))
        return None if action is None else self.instance.actions[action].name

    def is_optimal(self, taken: Sequence[str], action: str) -> bool:
        """Return whether taking `action` after `taken` is optimal."""
        return self.search.is_optimal(*self._state(taken), self.instance.action_names.index(action))

    def prediction(self, taken: Sequence[str]) -> str:
        """Return the truth to name when play ends: the only one left, or one that no action left can rule out."""
        truth = self.search.prediction(*self._state(taken))
        if truth is None:
            raise _no_truth_left(self.instance)
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


def _no_truth_left(instance: Instance) -> ScoringError:
    return ScoringError("the observations rule out every truth", where=f"{instance.domain} instance {instance.seed}")


def golden_of(instance: Instance, limits: Limits | None = None, engine: EngineName = "auto") -> GoldenRun:
    """Return the golden run of a game; small games are played by the faster `SmallGame` unless an engine is named.

    Raises NotProvenError, a ScoringError, if a limit ends the search before the best action is proven.
    """
    puzzle = puzzle_of(instance)
    if engine != "auto" or max(puzzle.n_truths, puzzle.n_actions) > MAX_SMALL:
        return OptimalPlayer(instance, limits, engine).run()
    run = SmallGame(puzzle).golden_run(observed_masks(instance))
    if run.prediction is None:
        raise _no_truth_left(instance)
    return GoldenRun(tuple(instance.actions[test].name for test in run.tests), instance.truths[run.prediction])


def golden_run(doc: Mapping[str, Any]) -> GoldenRun:
    """Return the golden run of a game's doc; cached, since every model and repeat needs it.

    For listed games that take long to solve, it is looked up. Raises NotProvenError as `golden_of` does.
    """
    return _golden(game_text(doc))


def game_text(doc: Mapping[str, Any]) -> str:
    """Return everything that the golden run of a game's doc depends on, as canonical JSON."""
    return json.dumps({key: value for key, value in doc.items() if key in _GAME_KEYS}, sort_keys=True)


@functools.lru_cache(maxsize=4096)
def _golden(text: str) -> GoldenRun:
    if (listed := listed_run(text)) is not None:
        return GoldenRun(*listed)
    return golden_of(Instance.from_doc(json.loads(text)))
