"""Forms of judges' replies: as the prompts prescribe, or as JSON under a schema that the server enforces.

The second is ours, `replies: structured` of the jury, for small models that follow no format unaided. Each kind of
reply has the same parts in the same order in both forms, and is parsed into the same result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from creval_openended.judging.replies import (
    ANALYSTS,
    Analyst,
    Confidence,
    Turn,
    UnreadableReplyError,
    read_confidence,
    read_final,
    read_points,
    read_turn,
    share_of,
)

__all__ = ["Form", "Forms", "Replies", "forms_of"]

Replies = Literal["written", "structured"]
T = TypeVar("T")
Read = Callable[[str], T]
_POINTS = 8
_POINT_WORDS = 8
"""A beginning is divided into at most `_POINTS` points, none shorter than this."""
_QUERIES = 2
_CHARACTERS = 6
"""Approximate characters per word, with its space."""
_ANSWER = "Reply with one JSON object and nothing else. "


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """One kind of reply: `read` raises UnreadableReplyError. A `schema` is sent, with a `note` after the prompt.

    `display` formats a readable reply for people.
    """

    read: Read[T]
    schema: Mapping[str, Any] | None = None
    note: str = ""
    display: Callable[[str], str] = str

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that are sent with the question."""
        if self.schema is None:
            return {}
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": self.schema}}}


@dataclass(frozen=True, slots=True)
class Forms:
    """The four kinds of replies of a discussion; `turn` depends on the speaker."""

    points: Form[tuple[str, ...]]
    turn: Callable[[Analyst], Form[Turn]]
    confidence: Form[Confidence]
    verdict: Form[bool]


def forms_of(replies: Replies, words: int) -> Forms:
    """Return the forms; `words` limits a structured turn, beginnings may have twice as many."""
    if replies == "written":
        return Forms(
            Form(read_points),
            lambda speaker: Form(partial(read_turn, speaker=speaker)),
            Form(read_confidence),
            Form(read_final),
        )
    return Forms(_points(words), lambda speaker: _turn(words, speaker), _confidence(), _verdict())


def _points(words: int) -> Form[tuple[str, ...]]:
    most = min(_POINTS, max(1, 2 * words // _POINT_WORDS))
    each = _text(2 * words / most)
    schema = _object(points={"type": "array", "items": each, "minItems": 1, "maxItems": most})
    note = f'{_ANSWER}It has the field "points", a list of texts, one for each point.'
    return Form(_read_points, schema, note, lambda text: "\n".join(f"- {point}" for point in _read_points(text)))


def _turn(words: int, speaker: Analyst) -> Form[Turn]:
    others = [each for each in ANALYSTS if each != speaker]
    query = _object(to={"type": "string", "enum": others}, question=_text(words / 4))
    queries = {"type": "array", "items": query, "maxItems": _QUERIES}
    schema = _object(answers=_text(words / 4, 0), opinion=_text(words / 2), queries=queries)
    note = (
        f'{_ANSWER}It has the fields "answers" (to questions from other agents, empty if there are none), '
        f'"opinion", and "queries", a list of at most {_QUERIES}, each with the fields '
        f'"to" ("{others[0]}" or "{others[1]}") and "question".'
    )
    return Form(partial(_read_turn, speaker=speaker), schema, note, partial(_display_turn, speaker=speaker))


def _confidence() -> Form[Confidence]:
    score = {"type": "number", "enum": [step / 10 for step in range(11)]}
    schema = _object(explanation=_text(20), score=score, stance={"type": "string", "enum": ["YES", "NO"]})
    note = f'{_ANSWER}It has the fields "explanation", "score" (0 to 1) and "stance" (YES or NO).'
    return Form(_read_confidence, schema, note, _display)


def _verdict() -> Form[bool]:
    schema = _object(verdict={"type": "string", "enum": ["YES", "NO"]}, explanation=_text(25))
    note = f'{_ANSWER}It has the fields "verdict" (YES or NO) and "explanation", one sentence.'
    return Form(_read_verdict, schema, note, _display)


# --- reading ----------------------------------------------------------------------------------------


def _read_points(text: str) -> tuple[str, ...]:
    points = _fields(text, "points")["points"]
    found = tuple(" ".join(point.split()) for point in _listed(points, "points") if str(point).strip())
    if not found:
        raise UnreadableReplyError("the reply has no points")
    return found


def _read_turn(text: str, speaker: Analyst) -> Turn:
    fields = _fields(text, "answers", "opinion", "queries")
    opinion, answers = (str(fields[name]).strip() for name in ("opinion", "answers"))
    if not opinion:
        raise UnreadableReplyError("the opinion is empty")
    asked: dict[Analyst, tuple[str, ...]] = {}
    lost: list[str] = []
    for query in _listed(fields["queries"], "queries"):
        whom, question = (str(query.get(name, "")).strip() for name in ("to", "question"))
        named = next((each for each in ANALYSTS if each == whom and each != speaker), None)
        if question and named is not None:
            asked[named] = (*asked.get(named, ()), question)
        elif question:
            lost.append(f"{whom}: {question}")
    return Turn(opinion, answers, asked, tuple(lost))


def _read_confidence(text: str) -> Confidence:
    fields = _fields(text, "score", "stance")
    return Confidence(share_of(str(fields["score"]), "confidence"), {"YES": True, "NO": False}.get(fields["stance"]))


def _read_verdict(text: str) -> bool:
    verdict = _fields(text, "verdict")["verdict"]
    if verdict not in ("YES", "NO"):
        raise UnreadableReplyError(f"the verdict is not one of YES and NO but {str(verdict)[:40]!r}")
    return bool(verdict == "YES")


def _fields(text: str, *names: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise UnreadableReplyError("the reply is not JSON") from None
    missing = [name for name in names if not isinstance(found, dict) or name not in found]
    if missing:
        raise UnreadableReplyError(f"the reply has no field {missing[0]!r}")
    return dict(found)


def _listed(value: Any, name: str) -> Sequence[Any]:
    kind = str if name == "points" else dict
    if not isinstance(value, list) or not all(isinstance(each, kind) for each in value):
        raise UnreadableReplyError(f"{name} is not a list of what was requested")
    return value


# --- schemas and texts ------------------------------------------------------------------------------


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _text(words: float, least: int = 1) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": max(_CHARACTERS, round(_CHARACTERS * words))}


def _display(text: str) -> str:
    return "\n".join(f"{name}: {value}" for name, value in json.loads(text).items())


def _display_turn(text: str, speaker: Analyst) -> str:
    turn = _read_turn(text, speaker)
    lines = [f"Answers: {turn.answers}"] if turn.answers else []
    asked = [f"To {whom} analyst: {question}" for whom, questions in turn.questions.items() for question in questions]
    return "\n".join([*lines, turn.opinion, *asked])
