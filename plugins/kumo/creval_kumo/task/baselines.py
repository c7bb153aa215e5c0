"""Baselines: random players (floors), optimal play and play with all the evidence (ceilings)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from creval.plugin import Completion, Message, ToolCall, Turn
from creval_kumo.games.belief import most_probable, posterior
from creval_kumo.games.instance import Instance
from creval_kumo.search.golden import golden_run

__all__ = ["AllEvidence", "OptimalPlay", "RandomConsistent", "RandomMove"]

_TAG = re.compile(r"<ANSWER> (.*) </ANSWER>")


def taken_so_far(messages: Sequence[Message]) -> list[str]:
    """Return the actions taken by the player's earlier answers."""
    own = [message for message in messages if message.role == "assistant"]
    called = [str((call.values or {}).get("action")) for message in own for call in message.tool_calls]
    return called or [match.group(1) for message in own if (match := _TAG.search(message.text))]


def _move(turn: Turn, name: str, tools: bool) -> str | Completion:
    """Return a move as tagged text, or as a call of its tool."""
    if not tools:
        return f"<ANSWER> {name} </ANSWER>"
    tool, argument = ("act", "action") if name in turn.doc["actions"] else ("predict", "truth")
    call = ToolCall(f"call_{turn.call}", tool, json.dumps({argument: name}, ensure_ascii=False))
    return Completion("", finish_reason="tool_calls", tool_calls=(call,))


@dataclass(frozen=True)
class OptimalPlay:
    """Plays the golden run; with `tools` it answers by tool calls."""

    tools: bool = False

    def reply(self, turn: Turn) -> str | Completion:
        """Return the next test of the golden run, or its prediction."""
        golden = golden_run(turn.doc)
        taken = len(taken_so_far(turn.messages))
        return _move(turn, golden.tests[taken] if taken < len(golden.tests) else golden.prediction, self.tools)


@dataclass(frozen=True)
class RandomConsistent:
    """Takes a random action or guesses a random truth that is not ruled out yet, all equally likely.

    Never repeats an action and never names a truth that is ruled out: chance with sound bookkeeping. With `tools` it
    answers by tool calls.
    """

    tools: bool = False

    def reply(self, turn: Turn) -> str | Completion:
        """Return a random move."""
        instance = Instance.from_doc(turn.doc)
        taken = taken_so_far(turn.messages)
        left = instance.left(taken)
        actions = [name for name in instance.action_names if name not in taken]
        options = list(left) if len(left) == 1 else [*actions, *left]
        return _move(turn, turn.random.choice(options), self.tools)


class AllEvidence:
    """Takes every action in the game's order, then names the most probable truth, the first in the order at a tie.

    For games of a reliability below 1. No player succeeds more often; some need fewer actions.
    """

    def reply(self, turn: Turn) -> str:
        """Return the next action, or the prediction."""
        instance = Instance.from_doc(turn.doc)
        taken = len(taken_so_far(turn.messages))
        if taken < len(instance.actions):
            return f"<ANSWER> {instance.action_names[taken]} </ANSWER>"
        return f"<ANSWER> {most_probable(posterior(instance, instance.action_names))[0]} </ANSWER>"


class RandomMove:
    """Takes a random action not yet taken or names a random truth, all equally likely, ignoring the observations."""

    def reply(self, turn: Turn) -> str:
        """Return a random move."""
        taken = taken_so_far(turn.messages)
        actions = [name for name in turn.doc["actions"] if name not in taken]
        return f"<ANSWER> {turn.random.choice([*actions, *turn.doc['truths']])} </ANSWER>"
