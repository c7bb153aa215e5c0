"""Fresh games from a domain (Algorithm 1 of paper 002), the same from the seed alone everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from creval.errors import DataError, UsageError
from creval_kumo.domain import Action, Domain, Interval, Outcome, State
from creval_kumo.instance import GameAction, Instance, Observation
from creval_kumo.selection import DEFAULT_SOLVER, Candidate, select
from creval_kumo.stream import Stream

__all__ = ["Settings", "counterfactual", "generate"]

MAX_TRIES = 2000
"""Draws of truths for one game before the settings are called unsatisfiable."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes of a game: truths (N_truth), actions (N_action), valid truths (N_valid, less than truths)."""

    truths: int = 4
    actions: int = 6
    valid: int = 1

    def check(self, domain: Domain) -> None:
        """Raise UsageError where no game of these sizes can be made from the domain."""
        faults = []
        if not 1 <= self.valid < self.truths:
            faults.append(f"{self.valid} valid truths of {self.truths}: at least one, and fewer than all")
        if self.truths > len(domain.truths):
            faults.append(f"{self.truths} truths, but the domain has {len(domain.truths)}")
        if not 1 <= self.actions <= len(domain.actions):
            faults.append(f"{self.actions} actions, but the domain has {len(domain.actions)}")
        if faults:
            raise UsageError(f"no such game can be made: {'; '.join(faults)}", where=f"domain {domain.name}")


def counterfactual(domain: Domain, seed: int) -> Domain:
    """Return the domain with the truths' names shuffled in all exclusions.

    What an outcome rules out no longer makes sense outside the game: only the knowledge book tells. The structure
    (and so the difficulty of the reasoning) stays the same.
    """
    names = sorted(truth.name for truth in domain.truths)
    other = dict(zip(names, Stream("counterfactual", domain.name, seed).shuffled(names), strict=True))
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
    return replace(domain, actions=actions)


def generate(domain: Domain, settings: Settings, seed: int, solver: str = DEFAULT_SOLVER) -> Iterator[Instance]:
    """Yield games without end: number 0, 1, 2 ... of the task set `seed`. No two are equal.

    Raises UsageError where the sizes do not fit the domain, DataError where MAX_TRIES draws in a row gave no game
    (with what stood in the way).
    """
    settings.check(domain)
    seen: set[str] = set()
    number = 0
    while True:
        instance = _next(domain, settings, (seed, number), solver, seen)
        seen.add(instance.digest())
        yield instance
        number += 1


def _next(domain: Domain, settings: Settings, place: tuple[int, int], solver: str, seen: set[str]) -> Instance:
    seed, number = place
    failures: dict[str, int] = {}
    for attempt in range(MAX_TRIES):
        words = (domain.name, settings.truths, settings.actions, settings.valid, seed, number, attempt)
        instance = _draw(domain, settings, number, Stream("kumo", *words), solver)
        if instance is None:
            failures["some invalid truth cannot be ruled out together with the others"] = attempt
        elif instance.digest() in seen:
            failures["the game equals an earlier one of the set"] = attempt
        else:
            instance.check()
            return instance
    raise DataError(
        f"no further game was found in {MAX_TRIES} draws: {'; '.join(failures)}",
        where=f"domain {domain.name}, {settings.truths} truths, {settings.actions} actions, {settings.valid} valid",
        cure="Ask for fewer truths or games, or more actions.",
    )


def _draw(domain: Domain, settings: Settings, number: int, stream: Stream, solver: str) -> Instance | None:
    """Draw truths, let the solver choose outcomes, fill up with further actions; None where it is unsatisfiable."""
    truths = stream.sample(sorted(truth.name for truth in domain.truths), settings.truths)
    valid = frozenset(stream.sample(truths, settings.valid))
    actions = sorted(domain.actions, key=lambda action: action.name)
    candidates = stream.shuffled(_candidates(actions, frozenset(truths), valid))
    invalid = [truth for truth in truths if truth not in valid]
    chosen = select(candidates, invalid, settings.actions, solver)
    if chosen is None:
        return None
    states: dict[str, State] = {candidate.action: candidate.state for candidate in chosen}
    if not _fill_up(states, actions, (frozenset(truths), valid), settings.actions, stream):
        return None
    names = stream.shuffled(sorted(states))
    observations = {name: _observe(states[name], stream) for name in names}
    played = tuple(_game_action(domain.action_by_name[name], frozenset(truths)) for name in names)
    ordered_valid = tuple(truth for truth in truths if truth in valid)
    return Instance(domain.name, number, tuple(truths), played, observations, ordered_valid)


def _candidates(actions: list[Action], truths: frozenset[str], valid: frozenset[str]) -> list[Candidate]:
    """The outcomes that rule out some truth of the game but no valid one."""
    return [
        Candidate(action.name, outcome.state, outcome.rules_out & truths)
        for action in actions
        for outcome in action.outcomes
        if outcome.rules_out & truths and not outcome.rules_out & valid
    ]


def _fill_up(
    states: dict[str, State],
    actions: list[Action],
    sets: tuple[frozenset[str], frozenset[str]],
    wanted: int,
    stream: Stream,
) -> bool:
    """Add actions until there are enough: first related ones (some outcome rules out a truth), then others."""
    truths, valid = sets
    related = [action for action in actions if action.related & truths]
    others = [action for action in actions if not action.related & truths]
    for action in [*stream.shuffled(related), *stream.shuffled(others)]:
        if len(states) == wanted:
            break
        possible = [outcome.state for outcome in action.outcomes if not outcome.rules_out & valid]
        if action.name not in states and possible:
            states[action.name] = stream.choice(possible)
    return len(states) == wanted


def _observe(state: State, stream: Stream) -> Observation:
    return stream.uniform(state.lo, state.hi) if isinstance(state, Interval) else state


def _game_action(action: Action, truths: frozenset[str]) -> GameAction:
    outcomes = tuple((outcome.state, outcome.rules_out & truths) for outcome in action.outcomes)
    return GameAction(action.name, action.about, action.unit, outcomes)
