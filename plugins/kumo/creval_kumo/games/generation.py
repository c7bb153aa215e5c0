"""Fresh games from a domain (Algorithm 1 of paper 002); the seed determines every byte on every machine.

Each game has a separate random stream, keyed by the domain, the sizes, the seed and the game's number. Truths and
actions are sorted by name before they are drawn. The games depend on neither the hash seed, nor the order of the domain
file, nor the SAT solver's choice of a model.

With a reliability below 1 ("probabilistic reasoning" in the paper's discussion) truths and actions are chosen in the
same way; the valid truth and the observations are then drawn at random (`creval_kumo.games.observing`) from a separate
stream. No two such games have the same truths and actions: refusing a game for its observations would make the
probabilities stated to the player wrong.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from creval.plugin import DataError, UsageError
from creval_kumo.bits import bits
from creval_kumo.domains.domain import Domain, Outcome
from creval_kumo.games.cover import Candidate
from creval_kumo.games.instance import GameAction, Instance
from creval_kumo.games.observing import observe, observe_by_chance
from creval_kumo.games.reliability import reliability_fault
from creval_kumo.games.selection import Obstacle, diagnose, select
from creval_kumo.games.stream import Stream

__all__ = ["MAX_TRIES", "GameMaker", "Made", "Settings", "counterfactual", "generate"]

MAX_TRIES = 1000
"""Draws of truths for one game before the settings are called unsatisfiable."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes of a game: truths (N_truth), actions (N_action), valid truths (N_valid, fewer than truths).

    `reliability` r: 1 is the paper's game, in which results rule out truths with certainty. Below 1 they are evidence
    only (see `creval_kumo.games.belief`), and exactly one truth is valid.
    """

    truths: int = 4
    actions: int = 6
    valid: int = 1
    reliability: float = 1.0

    def check(self, domain: Domain) -> None:
        """Raise UsageError if the domain is too small for games of these sizes."""
        faults = []
        if not 1 <= self.valid < self.truths:
            faults.append(f"{self.valid} valid truths of {self.truths}: at least one, and fewer than all")
        if self.truths > len(domain.truths):
            faults.append(f"{self.truths} truths, but the domain has {len(domain.truths)}")
        if not 1 <= self.actions <= len(domain.actions):
            faults.append(f"{self.actions} actions, but the domain has {len(domain.actions)}")
        if (fault := reliability_fault(self.reliability)) is not None:
            faults.append(fault)
        elif self.reliability < 1:
            faults += _chance_faults(self, domain)
        if faults:
            raise UsageError(f"no such game can be made: {'; '.join(faults)}", where=f"domain {domain.name}")


def _chance_faults(settings: Settings, domain: Domain) -> Iterator[str]:
    if settings.valid != 1:
        yield f"{settings.valid} valid truths with a reliability below 1: there one truth is valid"
    for action in domain.actions:
        always = frozenset.intersection(*(outcome.rules_out for outcome in action.outcomes))
        if always:
            yield f"every outcome of {action.name!r} rules out {min(always)!r}, and the reliability is below 1"


def counterfactual(domain: Domain, seed: int) -> Domain:
    """Return the domain with its truths' names shuffled in all exclusions; its name ends in `_counterfactual`.

    Exclusions no longer match knowledge from outside the game: the knowledge book is the only source. No truth keeps
    its own exclusions. The structure, and so the difficulty of the reasoning, stays the same.
    """
    names = sorted(truth.name for truth in domain.truths)
    stream = Stream("counterfactual", domain.name, seed)
    shuffled = stream.shuffled(names)
    while any(name == moved for name, moved in zip(names, shuffled, strict=True)):
        shuffled = stream.shuffled(names)
    other = dict(zip(names, shuffled, strict=True))
    actions = tuple(
        replace(
            action,
            outcomes=tuple(
                Outcome(outcome.state, frozenset(other[name] for name in outcome.rules_out))
                for outcome in action.outcomes
            ),
        )
        for action in domain.actions
    )
    return replace(domain, name=f"{domain.name}_counterfactual", actions=actions)


def generate(domain: Domain, settings: Settings, seed: int, solver: str | None = None) -> Iterator[Instance]:
    """Yield an endless sequence of games: number 0, 1, 2 ... of the task set `seed`.

    No two have the same truths, valid truths, actions and observed outcomes. With a reliability below 1 no two have
    the same truths and actions. `solver` is the name of the python-sat solver to use; the games do not depend on it.

    Raises:
        UsageError: the sizes do not fit the domain.
        DataError: MAX_TRIES draws in a row gave no game; the message gives the reason.
    """
    maker = GameMaker(domain, settings, seed, solver)
    number = 0
    while True:
        yield maker.make(number).instance
        number += 1


@dataclass(frozen=True, slots=True)
class Made:
    """A game with the number of the draw that gave it, and a key of 16 bytes that only equal games share.

    Games are equal if they have the same truths, valid truths, actions and observed outcomes (regardless of the numbers
    measured); with a reliability below 1, if they have the same truths and actions.
    """

    instance: Instance
    attempt: int
    key: bytes


@dataclass(frozen=True, slots=True)
class _Draw:
    """A game in numbers: truths and actions by their index in the sorted names, sets as bit masks."""

    truths: list[int]
    valid: int
    shown: dict[int, int]
    """The observed outcome of each action of the game."""


@dataclass
class GameMaker:
    """Makes the games of one task set; stores the domain as bit masks and the keys of the games made so far."""

    domain: Domain
    settings: Settings
    seed: int
    solver: str | None = None
    seen: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.settings.check(self.domain)
        self.names = sorted(truth.name for truth in self.domain.truths)
        self.actions = sorted(self.domain.actions, key=lambda action: action.name)
        place = {name: 1 << index for index, name in enumerate(self.names)}
        self.masks = [
            [sum(place[name] for name in outcome.rules_out) for outcome in action.outcomes] for action in self.actions
        ]
        self.related = [sum(place[name] for name in action.related) for action in self.actions]

    def make(self, number: int, attempt: int = 0) -> Made:
        """Make game `number`, starting at draw `attempt`: draw until the formula is satisfiable and the game is new."""
        obstacles = _Obstacles()
        while (made := self.draw(number, attempt, obstacles)).key in self.seen:
            attempt = made.attempt + 1
            obstacles.repeated += 1
        self.seen.add(made.key)
        return made

    def draw(self, number: int, attempt: int = 0, obstacles: _Obstacles | None = None) -> Made:
        """Return the first draw from `attempt` on that gives a game, new or not."""
        obstacles = obstacles or _Obstacles()
        settings = self.settings
        for tried in range(attempt, MAX_TRIES):
            words = (self.domain.name, settings.truths, settings.actions, settings.valid, self.seed, number, tried)
            stream = Stream("kumo", *words)
            draw = self._draw(stream, obstacles)
            if draw is not None:
                instance = self._instance(draw, number, stream)
                key: tuple[object, ...] = (sorted(draw.truths), draw.valid, sorted(draw.shown.items()))
                if settings.reliability < 1:
                    chance = Stream("kumo by chance", *words, settings.reliability)
                    instance = observe_by_chance(instance, settings.reliability, chance)
                    key = (sorted(draw.truths), sorted(draw.shown))
                return Made(instance, tried, hashlib.blake2b(repr(key).encode(), digest_size=16).digest())
        raise DataError(
            f"{MAX_TRIES} draws gave no further game after {len(self.seen)}: {obstacles}",
            where=f"domain {self.domain.name}, {settings.truths} truths ({settings.valid} valid), "
            f"{settings.actions} actions",
            fix="Ask for fewer truths, fewer games or more actions.",
        )

    def _draw(self, stream: Stream, obstacles: _Obstacles) -> _Draw | None:
        truths = stream.sample(range(len(self.names)), self.settings.truths)
        chosen = sum(1 << truth for truth in truths)
        valid = sum(1 << truth for truth in stream.sample(truths, self.settings.valid))
        candidates = stream.shuffled(self._candidates(chosen, valid))
        selected = select(candidates, chosen & ~valid, self.settings.actions, self.solver)
        if selected is None:
            obstacle, truths_left = diagnose(candidates, chosen & ~valid, self.settings.actions)
            obstacles.unsatisfiable[obstacle] += 1
            obstacles.stubborn.update(self.names[truth] for truth in bits(truths_left))
            return None
        shown = {candidate.action: candidate.outcome for candidate in selected}
        self._fill_up(shown, chosen, valid, stream)
        if len(shown) < self.settings.actions:
            obstacles.unfilled += 1
            return None
        return _Draw(truths, valid, shown)

    def _candidates(self, chosen: int, valid: int) -> list[Candidate]:
        """Return the outcomes that rule out some truth of the game but no valid one (D_valid of Algorithm 1)."""
        found = []
        for action, related in enumerate(self.related):
            if related & chosen:
                for outcome, mask in enumerate(self.masks[action]):
                    if mask & chosen and not mask & valid:
                        found.append(Candidate(action, outcome, mask & chosen))
        return found

    def _fill_up(self, shown: dict[int, int], chosen: int, valid: int, stream: Stream) -> None:
        """Add actions up to the required number: first related ones, then others; outcomes must spare valid truths."""
        related: list[int] = []
        others: list[int] = []
        for action, mask in enumerate(self.related):
            if action not in shown:
                (related if mask & chosen else others).append(action)
        for group in (related, others):
            if len(shown) == self.settings.actions:
                return
            for action in stream.shuffled(group):
                if len(shown) == self.settings.actions:
                    return
                possible = [outcome for outcome, mask in enumerate(self.masks[action]) if not mask & valid]
                if possible:
                    shown[action] = stream.choice(possible)

    def _instance(self, draw: _Draw, number: int, stream: Stream) -> Instance:
        truths = tuple(self.names[truth] for truth in draw.truths)
        inside = frozenset(truths)
        played, observations = [], {}
        for place in stream.shuffled(sorted(draw.shown)):
            action = self.actions[place]
            outcomes = tuple((outcome.state, outcome.rules_out & inside) for outcome in action.outcomes)
            played.append(GameAction(action.name, action.about, action.unit, outcomes))
            observations[action.name] = observe(action.outcomes[draw.shown[place]].state, stream)
        valid = tuple(self.names[truth] for truth in draw.truths if draw.valid >> truth & 1)
        instance = Instance(self.domain.name, number, truths, tuple(played), observations, valid)
        instance.check()
        return instance


@dataclass
class _Obstacles:
    """Why draws gave no game, for the error message after too many."""

    unsatisfiable: Counter[Obstacle] = field(default_factory=Counter)
    stubborn: Counter[str] = field(default_factory=Counter)
    """Truths that no outcome could rule out."""
    unfilled: int = 0
    repeated: int = 0

    def __str__(self) -> str:
        parts = []
        for obstacle, times in self.unsatisfiable.most_common():
            often = ", ".join(name for name, _ in self.stubborn.most_common(3))
            which = f" (most often {often})" if obstacle is Obstacle.NOT_EXCLUDABLE and often else ""
            parts.append(f"{times} times {obstacle.value}{which}")
        if self.unfilled:
            parts.append(f"{self.unfilled} times too few actions have an outcome that spares the valid truths")
        if self.repeated:
            parts.append(f"{self.repeated} times the game was an earlier one of the set")
        return "; ".join(parts)
