"""Formatting of observations for human players."""

from __future__ import annotations

from creval_kumo.domains.domain import number_text
from creval_kumo.games.instance import GameAction, Observation, state_matches

__all__ = ["shown_observation"]

_DIGITS = 17  # enough to distinguish any two floats


def shown_observation(action: GameAction, observation: Observation) -> str:
    """Return a label unchanged, a number with its unit and as few decimals as possible (at least one).

    A model sees all 17 digits. A person sees the shortest rounding that matches the same outcomes: the same
    information in a readable form.
    """
    if isinstance(observation, str):
        return observation
    matched = _matches(action, observation)
    text = number_text(float(observation))
    for decimals in range(1, _DIGITS):
        rounded = round(float(observation), decimals)
        if _matches(action, rounded) == matched:
            text = number_text(rounded)
            break
    return f"{text} {action.unit}" if action.unit else text


def _matches(action: GameAction, observation: Observation) -> list[bool]:
    return [state_matches(state, observation) for state, _ in action.outcomes]
