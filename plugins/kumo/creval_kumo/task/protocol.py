"""Protocol `kumo.game`: the model takes actions, sees outcomes, and predicts the truth.

Source: paper 002, "KUMO benchmark", and the released evaluation: at most 50 turns; a name that is neither an action
nor a truth ends the game as unparsed; an action may be repeated and counts again; the history contains the
observations, but not the instruction of each round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Message, Session
from creval_kumo.games.instance import Instance
from creval_kumo.games.reliability import need_certain, need_uncertain
from creval_kumo.games.simulator import MAX_TURNS, GameState

__all__ = ["Game"]


@dataclass(frozen=True, slots=True)
class Game:
    """Plays one game. The prompt `observation` sees the `action`, its `observation` as JSON, and both as the authors'
    code writes them: `result`, a Python dictionary.

    Reports `tests` (actions in order), `prediction` (None without one) and `end`.

    `certain` says which games the task's prompts and scorer are for: those whose results rule out truths with
    certainty, or those of a reliability below 1. Other games are refused before the model is called.
    """

    max_turns: int = MAX_TURNS
    certain: bool = True

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the expected turns of a game: if each result halves the truths, and if every action is taken once.

        The published games of all models took 3.7 (4 truths, 6 actions) and 6.4 turns (12 truths, 16 actions).
        """
        truths, actions, valid = (len(fields[name]) for name in ("truths", "actions", "valid_truths"))
        fewest = 1 + math.ceil(math.log2(truths / valid))
        return min(fewest, self.max_turns), min(actions + 1, self.max_turns)

    async def run(self, session: Session) -> None:
        """Play until a truth is predicted, an answer cannot be parsed, or the turns run out.

        Raises UsageError if the game is not of the kind that the task is for, DomainError if its observations do not
        leave exactly the valid truths (or, with uncertain results, if its probabilities are undefined).
        """
        game = Instance.from_doc(session.doc.fields)
        (need_certain if self.certain else need_uncertain)(game.reliability, f"doc {session.doc.id}")
        game.check()  # games may come from any file: an unsound one is refused instead of scored
        play = GameState(game, max_turns=self.max_turns)
        history = session.prompt("system")
        shown = session.prompt("begin")
        session.report(tests=[], prediction=None, end="unfinished")
        while play.ending is None:
            reply = await session.ask([*history, *_joined(shown if play.tests else [], session.prompt("round"))])
            session.report(last_answer=reply.text)
            history = [*history, *shown, Message("assistant", reply.text)]
            parsed = session.parse(reply.text)
            play = play.move(str(parsed.value) if parsed.ok else None)
            session.report(tests=list(play.tests), prediction=play.prediction, end=play.ending or "unfinished")
            if play.ending == "predicted":
                session.answer(reply.text)
            elif play.ending == "unparsed":
                session.unparsed(parsed.reason or _no_such_name(parsed.value))
            elif play.ending is None:
                result = {"action": play.tests[-1], "observation": play.observation}
                observation = json.dumps(play.observation, ensure_ascii=False)
                shown = session.prompt(
                    "observation", action=play.tests[-1], observation=observation, result=str(result)
                )


def _no_such_name(value: object) -> str:
    return f"{str(value)[:120]!r} is neither an action nor a truth of the game"


def _joined(first: list[Message], second: list[Message]) -> list[Message]:
    """Join two user messages: the observation, a blank line, the instruction of the round."""
    text = "\n\n".join(message.text for message in [*first, *second])
    return [Message("user", text)]
