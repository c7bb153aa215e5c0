"""Trajectories as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

from creval_kumo.domains import load_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.games.generation import GameMaker, Made, Settings, counterfactual
from creval_kumo.games.reliability import need_certain
from creval_kumo.search.golden import golden_of
from creval_kumo.trajectories.conversation import conversation

__all__ = ["KEY_DIGITS", "LineMaker", "TrajectorySet"]

KEY_DIGITS = 32
"""Hexadecimal digits of the key at the start of each line: `{"key": "..."`."""


@dataclass(frozen=True, slots=True)
class TrajectorySet:
    """The choice of games: the same values give the same lines on every machine."""

    domain: str
    settings: Settings
    seed: int
    counterfactual: bool = False

    def load(self) -> Domain:
        """Return the domain."""
        domain = load_domain(self.domain)
        return counterfactual(domain, self.seed) if self.counterfactual else domain

    def maker(self) -> GameMaker:
        """Return a fresh maker of its games. Raises UsageError if results are not certain."""
        need_certain(self.settings.reliability, f"trajectories of {self.domain}")
        return GameMaker(self.load(), self.settings, self.seed)


class LineMaker:
    """Makes the lines of a set.

    A line has `key` (equal games have equal keys), `id`, `domain`, `seed` (the game's number), `tests` (the golden
    run), `prediction`, `messages` ({role, content}), and `loss_mask`: 1 for the assistant's messages, the only ones
    that count in the loss.
    """

    def __init__(self, games: TrajectorySet) -> None:
        self.maker = games.maker()
        self.domain = self.maker.domain

    def line(self, made: Made) -> str:
        """Return the line of a game, including its newline."""
        instance = made.instance
        run = golden_of(instance)
        messages = conversation(instance, self.domain, run)
        row = {
            "key": made.key.hex(),
            "id": instance.id,
            "domain": instance.domain,
            "seed": instance.seed,
            "tests": list(run.tests),
            "prediction": run.prediction,
            "messages": [{"role": role, "content": content} for role, content in messages],
            "loss_mask": [int(role == "assistant") for role, _ in messages],
        }
        return json.dumps(row, ensure_ascii=False) + "\n"
