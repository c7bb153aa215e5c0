"""How what an action shows is drawn."""

from __future__ import annotations

from dataclasses import replace

from creval_kumo.domains.domain import Interval, State
from creval_kumo.games.instance import Instance, Observation
from creval_kumo.games.reliability import exact_reliability
from creval_kumo.games.stream import Stream

__all__ = ["observe", "observe_by_chance"]


def observe(state: State, stream: Stream) -> Observation:
    """The label, or one uniform draw inside the interval (its ends, which neighbours may share, left out)."""
    if not isinstance(state, Interval):
        return state
    for _ in range(64):
        if (value := stream.uniform(state.lo, state.hi)) not in (state.lo, state.hi):
            return value
    return state.lo  # no number lies between the ends


def observe_by_chance(instance: Instance, reliability: float, stream: Stream) -> Instance:
    """Return the game with truths and actions kept, and its valid truth and observations drawn at random.

    The valid truth is drawn afresh, uniformly among all truths of the game, and each observation from P(o | t) of
    `creval_kumo.games.belief`. Nothing of the game's former choice may stay: the SAT solver chose observations so that
    they single out its valid truth, and actions so that they can. Given that, probabilities reckoned by the rule that
    the player is told would be wrong (too low for the truth that the observations favour).

    Raises DomainError if some action has no outcome that spares a truth, or outcomes that share a number shown.
    """
    exact = exact_reliability(reliability)
    valid = stream.choice(instance.truths)
    observations: dict[str, Observation] = {}
    for action in instance.actions:
        followed = stream.below(exact.denominator) < exact.numerator
        places = action.sparing(valid) if followed else range(len(action.outcomes))
        observations[action.name] = observe(action.outcomes[stream.choice(places)][0], stream)
    game = replace(instance, observations=observations, valid_truths=(valid,), reliability=float(reliability))
    game.check()
    return game
