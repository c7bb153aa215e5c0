"""Protocol `kumo.game`: the model takes actions, sees outcomes, and predicts the truth.

Source: paper 002, "KUMO benchmark", and the released evaluation: at most 50 turns; a name that is neither an action
nor a truth ends the game as unparsed; an action may be repeated and counts again; the history keeps what was
observed, not the instruction of each round.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from creval.types.components import Session
from creval.types.messages import Message
from creval_kumo.instance import Instance

__all__ = ["Game"]


@dataclass(frozen=True, slots=True)
class Game:
    """Plays one game. Reports `tests` (actions in order), `prediction` (None without one) and `end`."""

    max_turns: int = 50

    async def run(self, session: Session) -> None:
        """Play until a truth is predicted, an answer cannot be read, or the turns run out."""
        instance = Instance.from_doc(session.doc.fields)
        history = session.prompt("system")
        shown = session.prompt("begin")
        tests: list[str] = []
        session.report(tests=tests, prediction=None, end="unfinished")
        for _ in range(self.max_turns):
            reply = await session.ask([*history, *_joined(shown if tests else [], session.prompt("round"))])
            session.report(last_answer=reply.text)
            name = self._name(session, reply.text, instance)
            history = [*history, *shown, Message("assistant", reply.text)]
            if name in instance.truths:
                session.report(prediction=name, end="predicted")
                session.answer(reply.text)
                return
            tests.append(name)
            observation = json.dumps(instance.observations[name], ensure_ascii=False)
            shown = session.prompt("observation", action=name, observation=observation)
        session.report(end="out of turns")

    def _name(self, session: Session, text: str, instance: Instance) -> str:
        parsed = session.parse(text)
        if not parsed.ok:
            session.report(end="unparsed")
            session.unparsed(parsed.reason or "the answer cannot be read")
        name = str(parsed.value)
        if name not in instance.truths and name not in instance.action_names:
            session.report(end="unparsed")
            session.unparsed(f"{name[:120]!r} is neither an action nor a truth of the game")
        return name


def _joined(first: list[Message], second: list[Message]) -> list[Message]:
    """Put two user messages into one: what was observed, a blank line, the instruction of the round."""
    text = "\n\n".join(message.content for message in [*first, *second])
    return [Message("user", text)]
