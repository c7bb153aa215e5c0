"""Parse replies of judges: fragments, turns of a discussion, confidences and verdicts.

Each parser raises UnreadableReplyError if the reply does not match the format of the prompt; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from creval.plugin import Reply

__all__ = [
    "ANALYSTS",
    "Analyst",
    "Confidence",
    "Turn",
    "UnreadableReplyError",
    "read_confidence",
    "read_final",
    "read_points",
    "read_probable",
    "read_turn",
    "share_of",
    "whole_text",
]

Analyst = Literal["problem", "solution", "criterion"]
ANALYSTS: tuple[Analyst, ...] = ("problem", "solution", "criterion")
"""In the order of their turns, which also breaks ties of confidence."""

_POINT = re.compile(r"\[\[\s*POINT\s*\]\]\s*:?", re.IGNORECASE)
_HEADER = re.compile(r"\[\[([^\[\]\n]{1,120})\]\]\s*:?")
_QUESTION = re.compile(r"^[^\w\n]*+to\s++(?:the\s++|all\s++)?([^:\n]{1,60}?)\s*+:", re.IGNORECASE | re.MULTILINE)
_BRACKETS = re.compile(r"\[\[([^\[\]]*+)\]\]")
_STANCE = re.compile(r"\(\s*+\[?+\s*+(YES|NO)\s*+\]?+\s*+\)", re.IGNORECASE)
_PROBABILITY = re.compile(r"\(\s*+\[([^\[\]]*+)\]\s*+\)")
_NOBODY = re.compile(r"^\W*+(?:none|no(?:ne)? (?:queries|questions|further.*+)|n/?a)\W*+$", re.IGNORECASE)


class UnreadableReplyError(Exception):
    """The reply does not have the requested form; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of an analyst: `opinion`, `answers` to others ("" for none), questions by addressee.

    `unaddressed` are questions to nobody, to oneself, or to an unknown analyst.
    """

    opinion: str
    answers: str
    questions: Mapping[Analyst, tuple[str, ...]]
    unaddressed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How certain an analyst is, from 0 to 1, and for which verdict (None: not stated)."""

    value: float
    stance: bool | None


def whole_text(reply: Reply) -> str:
    """Return the text of a reply that was neither cut nor declined."""
    completion = reply.completions[0]
    if completion.finish_reason == "length":
        raise UnreadableReplyError("the reply was cut at the token limit")
    if completion.refusal or completion.finish_reason == "content_filter":
        raise UnreadableReplyError("the judge declined to answer")
    return completion.text


def read_points(text: str) -> tuple[str, ...]:
    """Read the fragments of an initialisation: the texts after each [[POINT]]; text before the first is dropped."""
    points = tuple(part.strip() for part in _POINT.split(text)[1:] if part.strip())
    if not points:
        raise UnreadableReplyError("the initialisation has no [[POINT]]")
    return points


def read_turn(text: str, speaker: Analyst) -> Turn:
    """Read the three labelled parts of a turn; answers and queries are optional, the opinion is not."""
    parts: dict[str, list[str]] = {"answers": [], "opinion": [], "queries": []}
    found = list(_HEADER.finditer(text))
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        kind = _kind(match[1])
        body = _without_edges(text[match.end() : end])
        if kind is not None and body:
            parts[kind].append(body)
    if not parts["opinion"]:
        raise UnreadableReplyError("the turn has no part labelled [[General thoughts/opinion ...]]")
    questions, unaddressed = _questions("\n".join(parts["queries"]), speaker)
    return Turn("\n".join(parts["opinion"]), "\n".join(parts["answers"]), questions, unaddressed)


def read_confidence(text: str) -> Confidence:
    """Read [[0.6]] ([NO]): one number from 0 to 1, and optionally the stance."""
    given = {content for content in _contents(_BRACKETS, text) if content.upper() not in ("YES", "NO")}
    if len(given) != 1:
        raise UnreadableReplyError(f"the confidence is not one [[Score]] but {_listed(given)}")
    stances = {word.upper() for word in _STANCE.findall(text)}
    return Confidence(share_of(given.pop(), "confidence"), stances == {"YES"} if len(stances) == 1 else None)


def read_final(text: str) -> bool:
    """Read a verdict: [[YES]] or [[NO]], and not both."""
    given = {content.upper() for content in _contents(_BRACKETS, text)} & {"YES", "NO"}
    if len(given) != 1:
        raise UnreadableReplyError(f"the verdict is not one of [[YES]] and [[NO]] but {_listed(given)}")
    return given == {"YES"}


def read_probable(text: str, positive: str, negative: str) -> tuple[bool, float]:
    """Read a verdict in the criterion's own words and the probability of the positive one: [[safe]] ([0.9])."""
    words = {positive.casefold(): True, negative.casefold(): False}
    given = {words[content.casefold()] for content in _contents(_BRACKETS, text) if content.casefold() in words}
    if len(given) != 1:
        raise UnreadableReplyError(f"the verdict is not one of [[{positive}]] and [[{negative}]]")
    stated = set(_contents(_PROBABILITY, text))
    if len(stated) != 1:
        raise UnreadableReplyError(f"the probability is not one ([number]) but {_listed(stated)}")
    return given.pop(), share_of(stated.pop(), "probability")


def _contents(brackets: re.Pattern[str], text: str) -> list[str]:
    return [content.strip() for content in brackets.findall(text)]


def _without_edges(part: str) -> str:
    """Strip the bold type of the label before a part, and the number of the next part after it."""
    start, end = 0, len(part)
    while start < end and (part[start].isspace() or part[start] in "*:"):
        start += 1
    while end > start and (part[end - 1].isspace() or part[end - 1] == "*"):
        end -= 1
    body = part[start:end]
    if body[-1:] == "." and body[-2:-1].isdecimal():
        before = body[:-2].rstrip()
        line = body.find("\n", len(before))
        return body if line < 0 else body[:line]
    return body


def _kind(label: str) -> str | None:
    low = label.casefold()
    if "answer" in low:
        return "answers"  # before the queries: its label mentions questions too
    if "opinion" in low or "thought" in low:
        return "opinion"
    return "queries" if "quer" in low or "question" in low else None


def _questions(text: str, speaker: Analyst) -> tuple[dict[Analyst, tuple[str, ...]], tuple[str, ...]]:
    found = list(_QUESTION.finditer(text))
    if not found:
        return {}, () if not text or _NOBODY.match(text) else (text,)
    asked: dict[Analyst, tuple[str, ...]] = {}
    lost: list[str] = []
    for number, match in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        question = text[match.end() : end].strip().strip("*").strip()
        whom = _analyst(match[1])
        if not question or _NOBODY.match(question):
            continue
        if whom is None or whom == speaker:
            lost.append(f"{match[1].strip()}: {question}")
        else:
            asked[whom] = (*asked.get(whom, ()), question)
    return asked, tuple(lost)


def _analyst(name: str) -> Analyst | None:
    named: list[Analyst] = [each for each in ANALYSTS if each in name.casefold()]
    if "criteria" in name.casefold():
        named.append("criterion")
    return named[0] if len(named) == 1 else None


def share_of(text: str, what: str) -> float:
    """Read a number from 0 to 1; the error names `what`."""
    try:
        value = float(text.replace("_", "?"))  # Python reads 0_5 as 5
    except ValueError:
        raise UnreadableReplyError(f"the {what} {text[:40]!r} is not a number") from None
    if not 0 <= value <= 1:
        raise UnreadableReplyError(f"the {what} {text[:40]} is not between 0 and 1")
    return value


def _listed(given: set[str]) -> str:
    return ", ".join(sorted(each[:40] for each in given)) or "missing"
