"""Baselines: players at random (floors), optimal play, and play by all the evidence (ceilings)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from creval.plugin import Message, Turn
from creval_kumo.games.belief import most_probable, posterior
from creval_kumo.games.instance import Instance
from creval_kumo.search.golden import golden_run

__all__ = ["AllEvidence", "OptimalPlay", "RandomConsistent", "RandomMove"]

_TAG = re.compile(r"<ANSWER> (.*) </ANSWER>")


def taken_so_far(messages: Sequence[Message]) -> list[str]:
    """Return the actions that the player's own earlier answers took."""
    found = [_TAG.search(message.text) for message in messages if message.role == "assistant"]
    return [match.group(1) for match in found if match]


class OptimalPlay:
    """Plays the golden run."""

    def reply(self, turn: Turn) -> str:
        """Return the next test of the golden run, or its prediction."""
        golden = golden_run(turn.doc)
        taken = len(taken_so_far(turn.messages))
        name = golden.tests[taken] if taken < len(golden.tests) else golden.prediction
        return f"<ANSWER> {name} </ANSWER>"


class RandomConsistent:
    """Takes a random action or guesses a random truth that the observations so far leave, each as likely.

    Never repeats an action and never names a truth that is ruled out: chance with sound bookkeeping.
    """

    def reply(self, turn: Turn) -> str:
        """Return a random move."""
        instance = Instance.from_doc(turn.doc)
        taken = taken_so_far(turn.messages)
        left = instance.left(taken)
        actions = [name for name in instance.action_names if name not in taken]
        options = list(left) if len(left) == 1 else [*actions, *left]
        return f"<ANSWER> {turn.random.choice(options)} </ANSWER>"


class AllEvidence:
    """Takes every action in the game's order, then names the most probable truth, the first in the order at a tie.

    For games of a reliability below 1. No player is right more often; some need fewer actions.
    """

    def reply(self, turn: Turn) -> str:
        """Return the next action, or the prediction."""
        instance = Instance.from_doc(turn.doc)
        taken = len(taken_so_far(turn.messages))
        if taken < len(instance.actions):
            return f"<ANSWER> {instance.action_names[taken]} </ANSWER>"
        return f"<ANSWER> {most_probable(posterior(instance, instance.action_names))[0]} </ANSWER>"


class RandomMove:
    """Takes a random action that it has not taken, or names a random truth, each as likely, whatever it has seen."""

    def reply(self, turn: Turn) -> str:
        """Return a random move."""
        taken = taken_so_far(turn.messages)
        actions = [name for name in turn.doc["actions"] if name not in taken]
        return f"<ANSWER> {turn.random.choice([*actions, *turn.doc['truths']])} </ANSWER>"
