"""A golden game as a conversation.

Source: paper 002, "Details of overfitting resistance experiment": each sample begins with a system message that
describes the game and a symbolic knowledge book (a Python dictionary of outcomes and rule-out information); only the
actions count in the loss. The wording is that of the game's prompts (task_yaml/kumo/_game.yaml; a test compares the
two), but without the template engine, so that a thousand games per second are possible.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from creval_kumo.domains.domain import Domain, Interval, State
from creval_kumo.games.instance import Instance
from creval_kumo.games.simulator import GameState
from creval_kumo.search.golden import GoldenRun

__all__ = ["Turn", "conversation", "symbolic_book", "system_text"]

Turn = tuple[str, str]
"""Role and text of a message."""


def symbolic_book(instance: Instance) -> str:
    """Return the outcomes and what they rule out as the text of a Python dictionary, in the form of a seed config."""
    entries = []
    for action in instance.actions:
        kind = "float" if isinstance(action.outcomes[0][0], Interval) else "str"
        states = ", ".join(
            f"{_state(state)}: {_names([truth for truth in instance.truths if truth in ruled_out])}"
            for state, ruled_out in action.outcomes
        )
        entries.append(f"    {action.name!r}: {{'type': {kind!r}, 'states': {{{states}}}}},\n")
    return f"{{\n{''.join(entries)}}}"


def system_text(instance: Instance, domain: Domain, book: str) -> str:
    """Return the system message of a game with any book."""
    truth, actions, one = domain.truth_noun, domain.action_noun, len(instance.valid_truths) == 1
    known = f"which {truth.singular} is valid" if one else f"of one {truth.singular} that it is valid"
    return (
        f"You are playing a reasoning game. Your goal is to {domain.goal}. Among the possible {truth.plural} exactly "
        f"{len(instance.valid_truths)} {'is' if one else 'are'} valid. In each round you choose one of the available "
        f"{actions.plural} and see its result, or you name {'the valid' if one else 'any one valid'} {truth.singular}. "
        "Be right, and take as few actions as you can.\n\n"
        "How to play:\n"
        "1. Choose an action. You are shown its result.\n"
        f"2. Look up in the guidebook which {truth.plural} this result rules out.\n"
        f"3. Go on until you know {known}.\n"
        "4. Name it. The game ends with this prediction.\n\n"
        "This is the initial state of the game:\n"
        f"Possible {truth.plural}: {_json(instance.truths)}\n"
        f"Available {actions.plural}: {_json(instance.action_names)}\n\n"
        f"Here is the guidebook:\n\n{book}"
    )


def conversation(instance: Instance, domain: Domain, run: GoldenRun) -> list[Turn]:
    """Return the messages of a golden game: the system message, then user messages and answers in turn.

    Each user message is that of the same round of the game: the result of the previous action and the instruction.
    """
    instruction = _round_text(instance)
    messages: list[Turn] = [("system", system_text(instance, domain, symbolic_book(instance))), ("user", instruction)]
    play = GameState(instance, max_turns=len(instance.actions) + 1)
    for name in run.tests:
        play = play.move(name)
        result = f'{{"action": {_text(name)}, "observation": {_text(play.observation)}}}'
        messages += [
            ("assistant", f"<ANSWER> {name} </ANSWER>"),
            ("user", f"Result of your previous action: {result}\n\n{instruction}"),
        ]
    messages.append(("assistant", f"<ANSWER> {run.prediction} </ANSWER>"))
    return messages


def _round_text(instance: Instance) -> str:
    return (
        f"In this round, choose an `action_name` from the list {_json(instance.action_names)} or predict a "
        f"`truth_name` from the list {_json(instance.truths)}. Explain your reasoning, and end your response with "
        "'<ANSWER> ${action_name} </ANSWER>' or '<ANSWER> ${truth_name} </ANSWER>'."
    )


def _state(state: State) -> str:
    return repr((state.lo, state.hi)) if isinstance(state, Interval) else repr(state)


def _names(names: Sequence[str]) -> str:
    return f"{{{', '.join(map(repr, names))}}}" if names else "set()"


def _json(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
