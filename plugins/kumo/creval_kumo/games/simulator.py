"""The rules of the game, independent of the player: legal moves, observations, prediction, the end.

Source: paper 002, "KUMO benchmark" and Fig. 1a. The instance fixes the observations, so a repeated action shows the
same (and counts again). A name that is neither an action nor a truth, compared exactly, ends the game as unparsed.
The game also ends after `max_turns` answers without a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from creval_kumo.games.instance import Instance, Observation

__all__ = ["MAX_TURNS", "Ending", "GameState"]

MAX_TURNS = 50

Ending = Literal["predicted", "unparsed", "out of turns"]


@dataclass(frozen=True, slots=True)
class GameState:
    """One game in progress or at its end; every move returns a new state.

    `tests` are the actions taken, in order, repeats included. `ending` is None while the game lasts.
    """

    instance: Instance
    tests: tuple[str, ...] = ()
    prediction: str | None = None
    ending: Ending | None = None
    max_turns: int = MAX_TURNS

    @property
    def success(self) -> bool:
        """Whether a valid truth was predicted."""
        return self.prediction in self.instance.valid_truths

    @property
    def moves(self) -> tuple[str, ...]:
        """The names that may be answered now: all actions and all truths, none once the game has ended."""
        return () if self.ending else (*self.instance.action_names, *self.instance.truths)

    @property
    def observation(self) -> Observation | None:
        """What the last action showed."""
        return self.instance.observations[self.tests[-1]] if self.tests else None

    def left(self) -> tuple[str, ...]:
        """Return the truths that the observations so far do not rule out."""
        return self.instance.left(self.tests)

    def move(self, name: str | None) -> GameState:
        """Take an action or predict a truth. Any other name, or None, ends the game as unparsed."""
        if self.ending:
            raise ValueError(f"the game has ended ({self.ending}); start another game")
        if name in self.instance.truths:
            return replace(self, prediction=name, ending="predicted")
        if name is None or name not in self.instance.observations:
            return replace(self, ending="unparsed")
        tests = (*self.tests, name)
        return replace(self, tests=tests, ending="out of turns" if len(tests) >= self.max_turns else None)
