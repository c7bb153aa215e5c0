"""Protocol `turns`: several questions in one conversation, each asked after the previous answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Message, ScoringError, Session, Turn

__all__ = ["TurnTarget", "Turns"]

_FIELD = "turns"
_PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Turns:
    """Asks a question, then the next one with the conversation so far, and so on; the sample gets every answer.

    `field` names the field of the doc that lists the questions: for each of them the task's prompt is rendered, with
    `question`. `prompts` names the prompts of the turns; if a field has more questions than there are prompts, the
    last prompt serves the rest. Every prompt also gets `turn` (1, 2, ...) and `answers`, those to the turns before.
    After the first turn only the prompt's last user message, and everything after it, is added to the conversation.

    An answer that is truncated, refused or empty ends the conversation with that status, unless `tolerate` names it
    (`length`, `refusal`, `empty`); a failed call makes the sample errored. Earlier answers stay in the sample.
    """

    prompts: Sequence[str] = ()
    field: str | None = None
    tolerate: Sequence[str] = ()

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the fewest and the most calls of a sample."""
        questions = self._questions(fields)
        number = len(self.prompts) if questions is None else len(questions)
        return min(1, number), number

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc is unusable: it has no list of questions."""
        try:
            self._questions(fields)
        except ScoringError as error:
            return error.what
        return None

    async def run(self, session: Session) -> None:
        """Ask turn by turn. Raises ScoringError if the doc has no list of questions."""
        questions = self._questions(session.doc.fields)
        names = self.prompts or (_PROMPT,)
        conversation: list[Message] = []
        answers: list[str] = []
        ends: list[str] = []
        for place in range(len(names) if questions is None else len(questions)):
            extra: dict[str, Any] = {} if questions is None else {"question": questions[place]}
            if "shots" in session.doc.fields:  # examples occur once, also if they are text before the question
                extra["shots"] = [self._example(shot) for shot in session.doc.fields["shots"]] if place == 0 else None
            name = names[min(place, len(names) - 1)]
            asked = session.prompt(name, turn=place + 1, answers=tuple(answers), **extra)
            conversation += asked if place == 0 else _from_last_question(asked)
            reply = await session.ask(tuple(conversation), tolerate=self.tolerate, tools=(), n=1)
            conversation.append(Message("assistant", reply.text))
            answers.append(reply.text)
            ends.append(reply.completions[0].finish_reason)
            session.answer(reply.text)
            session.report(turns=list(ends))

    def _example(self, shot: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of an example, which shows its first question."""
        listed = shot.get(self.field or _FIELD)
        first = {"question": listed[0]} if isinstance(listed, list | tuple) and listed else {}
        return {"turn": 1, "answers": (), **first, **shot}

    def _questions(self, fields: Mapping[str, Any]) -> Sequence[str] | None:
        """Return the doc's questions, None if the prompts suffice. Raises ScoringError if it has none."""
        name = self.field or (None if self.prompts else _FIELD)
        if name is None:
            return None
        if name not in fields:
            raise ScoringError(f"it has no field {name!r} with its questions; it has {', '.join(fields)}")
        found = fields[name]
        if not isinstance(found, list | tuple) or not found:
            raise ScoringError(f"its {name!r} is not a list of questions")
        for question in found:
            if not isinstance(question, str) or not question.strip():
                raise ScoringError(f"its {name!r} holds {str(question)[:40]!r}, which is not a question")
        return found


def _from_last_question(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the last message of the user, and everything after it: the instructions and examples were sent before."""
    last = max((place for place, each in enumerate(messages) if each.role == "user"), default=0)
    return messages[last:]


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """Answers each turn with the target of that turn: an item of the doc's field `field`."""

    field: str = "target"

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be answered: it lacks the field, or the field has no items."""
        if self.field not in fields:
            return f"it has no field {self.field!r}; it has {', '.join(fields)}"
        return None if isinstance(fields[self.field], list | tuple) else f"its {self.field!r} is not a list by turn"

    def reply(self, turn: Turn) -> str:
        """Return the target. Raises ScoringError if the field has none for this turn."""
        found = turn.doc.get(self.field)
        if not isinstance(found, list | tuple) or turn.call >= len(found):
            raise ScoringError(f"the field {self.field!r} has no item for turn {turn.call + 1}", where=turn.key.doc)
        return str(found[turn.call])
