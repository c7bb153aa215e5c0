"""Drawing of observations."""

from __future__ import annotations

from dataclasses import replace

from creval_kumo.domains.domain import Interval, State
from creval_kumo.games.instance import Instance, Observation
from creval_kumo.games.reliability import exact_reliability
from creval_kumo.games.stream import Stream

__all__ = ["observe", "observe_by_chance"]


def observe(state: State, stream: Stream) -> Observation:
    """Return the label, or one uniform draw from the open interval (neighbours may share its ends)."""
    if not isinstance(state, Interval):
        return state
    for _ in range(64):
        if (value := stream.uniform(state.lo, state.hi)) not in (state.lo, state.hi):
            return value
    return state.lo  # no number lies between the ends


def observe_by_chance(instance: Instance, reliability: float, stream: Stream) -> Instance:
    """Return the game with truths and actions kept, and its valid truth and observations drawn at random.

    The valid truth is drawn again, uniformly from all truths of the game, and each observation from P(o | t) of
    `creval_kumo.games.belief`. The original valid truth and observations must not be kept: the SAT solver chose
    observations and actions that single out the valid truth. With them, probabilities computed by the rule stated to
    the player would be wrong (too low for the truth that the observations favour).

    Raises DomainError if some action has no outcome that spares a truth, or if an observed number is in two outcomes.
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
