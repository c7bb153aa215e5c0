"""Stage a: a model proposes domains (paper 002, "A scalable framework for task generation")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import DataError, Message
from creval_kumo.augment.asking import Augmenter
from creval_kumo.augment.blocks import data_part
from creval_kumo.augment.prompting import fill, text
from creval_kumo.domains.domain import Noun
from creval_kumo.published.literal import IncompleteText, LiteralError, read_value

__all__ = ["Proposal", "propose"]

MAX_TRIES = 3
_MAX_TEXT = 300
_LIST = re.compile(r"\[\s*\{")
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_TEXTS = {"Name": "name", "Goal": "goal", "Truths": "truths", "Actions": "actions"}
_NOUNS = {"Truth noun": "truth_noun", "Action noun": "action_noun"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed domain: its truths and actions (as plural nouns), the goal, and the nouns of the game."""

    name: str
    goal: str
    truths: str
    actions: str
    truth_noun: Noun
    action_noun: Noun

    def to_row(self) -> dict[str, Any]:
        """Return it as plain data, with the keys of the paper's exemplar and our own."""
        return {
            **{key: getattr(self, name) for key, name in _TEXTS.items()},
            **{key: [getattr(self, name).singular, getattr(self, name).plural] for key, name in _NOUNS.items()},
        }

    @classmethod
    def from_row(cls, row: object) -> Proposal:
        """Read it. Raises ValueError that says what is wrong."""
        if not isinstance(row, dict):
            raise ValueError("expected a dictionary")
        missing = [key for key in (*_TEXTS, *_NOUNS) if key not in row]
        if missing:
            raise ValueError(f"the key {missing[0]!r} is missing")
        texts = {name: _text(row[key], key) for key, name in _TEXTS.items()}
        if not _NAME.fullmatch(texts["name"]):
            raise ValueError(f"the name {texts['name']!r} is not made of lower-case letters, digits and _")
        truth_noun, action_noun = (_noun(row[key], key) for key in _NOUNS)
        return cls(**texts, truth_noun=truth_noun, action_noun=action_noun)

    def as_dictionary(self) -> str:
        """Return it in the form shown in the paper."""
        shown = {"Goal": self.goal, "Truths": self.truths, "Actions": self.actions}
        return "{\n" + "".join(f"  {key!r}: {value!r},\n" for key, value in shown.items()) + "}"


def _text(value: object, key: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key!r} is no text")
    if len(value) > _MAX_TEXT or any(ord(character) < 32 for character in value):
        raise ValueError(f"{key!r} is longer than {_MAX_TEXT} characters or has line breaks")
    return value.strip().removesuffix(".")


def _noun(value: object, key: str) -> Noun:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{key!r} is not a pair of singular and plural")
    return Noun(_text(value[0], key), _text(value[1], key))


async def propose(
    augmenter: Augmenter, count: int, known: Sequence[str] = (), topic: str | None = None
) -> list[Proposal]:
    """Return `count` proposals whose names are not in `known`, about `topic` if it is given.

    Faulty proposals are requested again, with MAX_TRIES tries in all. Raises DataError with the faults if that is not
    enough, ModelError if a call fails.
    """
    found: list[Proposal] = []
    faults: list[str] = []
    for _ in range(MAX_TRIES):
        names = [*known, *(one.name for one in found)]
        answer = await augmenter.ask([Message("user", _prompt(count - len(found), names, topic))], _is_whole)
        faults = []
        try:
            rows = read_value(data_part(answer, _LIST))
        except LiteralError as error:
            faults.append(f"the answer is no list of dictionaries: {error}")
            continue
        for row in rows if isinstance(rows, list) else [rows]:
            try:
                proposal = Proposal.from_row(row)
            except ValueError as error:
                faults.append(str(error))
                continue
            if proposal.name in names or proposal.name in {one.name for one in found}:
                faults.append(f"there is a domain {proposal.name!r} already")
            elif len(found) < count:
                found.append(proposal)
        if len(found) == count:
            return found
    shown = "; ".join(faults) or f"only {len(found)} of {count} proposals came"
    raise DataError(
        f"after {MAX_TRIES} tries: {shown}", where=augmenter.model.spec, fix="Request fewer, or use another model."
    )


def _prompt(count: int, known: Sequence[str], topic: str | None) -> str:
    return fill(
        "propose",
        count=str(count),
        topic=f" All must belong to the field of {topic}." if topic else "",
        known=f" These exist already: {', '.join(known)}." if known else "",
        exemplar=text("exemplar_proposal").strip(),
    )


def _is_whole(answer: str) -> bool:
    try:
        read_value(data_part(answer, _LIST))
    except IncompleteText:
        return False
    except LiteralError:
        return True  # going on would not make it better
    return True
