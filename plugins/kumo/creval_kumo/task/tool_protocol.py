"""Protocol `kumo.tools`: the game of `kumo.game`, played by calls of two tools instead of tagged text.

The rules are those of the text game: a call that names neither an action nor a truth, an unknown tool, malformed
arguments, or a turn without a call ends the game as unparsed. A turn may contain several calls; they are executed in
order until one ends the game.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Message, Session, Tool, ToolCall
from creval_kumo.games.instance import Instance
from creval_kumo.games.reliability import need_certain
from creval_kumo.games.simulator import MAX_TURNS, GameState

__all__ = ["ACT", "PREDICT", "ToolGame", "game_tools"]

ACT, PREDICT = "act", "predict"
_ARGUMENT = {ACT: "action", PREDICT: "truth"}


def game_tools(game: Instance) -> tuple[Tool, Tool]:
    """Return the tools of a game: one that takes an action, one that names a truth."""
    return (
        Tool(ACT, "Take one of the available actions and see its result.", _schema(ACT, game.action_names)),
        Tool(PREDICT, "Name the valid truth. This ends the game.", _schema(PREDICT, game.truths)),
    )


def _schema(tool: str, names: Any) -> Mapping[str, Any]:
    name = _ARGUMENT[tool]
    properties = {name: {"type": "string", "enum": list(names)}}
    return {"type": "object", "properties": properties, "required": [name], "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class ToolGame:
    """Plays one game. Reports `tests` (actions in order), `prediction` (None without one) and `end`."""

    max_turns: int = MAX_TURNS

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the expected turns: one turn with all calls, or one turn per action."""
        truths, actions, valid = (len(fields[name]) for name in ("truths", "actions", "valid_truths"))
        fewest = 1 + math.ceil(math.log2(truths / valid))
        return min(fewest, self.max_turns), min(actions + 1, self.max_turns)

    async def run(self, session: Session) -> None:
        """Play until a truth is predicted, a call cannot be executed, or the turns run out.

        Raises UsageError if the game's results are not certain, DomainError if the game is unsound.
        """
        game = Instance.from_doc(session.doc.fields)
        need_certain(game.reliability, f"doc {session.doc.id}")
        game.check()
        play, tools = GameState(game, max_turns=self.max_turns), game_tools(game)
        history = [*session.prompt("system"), *session.prompt("begin")]
        session.report(tests=[], prediction=None, end="unfinished")
        while play.ending is None:
            reply = await session.ask(history, tools=tools)
            history.append(reply.message)
            session.report(last_answer=reply.text)
            if not reply.tool_calls:
                session.report(end="unparsed")
                session.unparsed("the answer calls no tool")
            for call in reply.tool_calls:
                play = self._carry_out(session, play, call)
                if play.ending is not None:
                    break
                observation = json.dumps(play.observation, ensure_ascii=False)
                (shown,) = session.prompt("observation", action=play.tests[-1], observation=observation)
                history.append(Message("tool", shown.text, tool_call_id=call.id))

    def _carry_out(self, session: Session, play: GameState, call: ToolCall) -> GameState:
        """Take the action or predict the truth of a call, and report it."""
        values, wanted = call.values, _ARGUMENT.get(call.name)
        name = None if values is None or wanted is None else values.get(wanted)
        allowed = play.instance.action_names if call.name == ACT else play.instance.truths
        play = play.move(name if isinstance(name, str) and name in allowed else None)
        session.report(tests=list(play.tests), prediction=play.prediction, end=play.ending or "unfinished")
        if play.ending == "predicted":
            session.answer(f"<ANSWER> {name} </ANSWER>")
        elif play.ending == "unparsed":
            session.unparsed(_fault(call, values, name))
        return play


def _fault(call: ToolCall, values: Mapping[str, Any] | None, name: object) -> str:
    if call.name not in _ARGUMENT:
        return f"{call.name[:60]!r} is none of the tools"
    if values is None:
        return f"the arguments are not a JSON object: {call.arguments[:120]!r}"
    return f"{str(name)[:120]!r} is none of what {call.name} takes"
