"""Baselines: the floor of an empty program, and the ceiling of convergent creativity by human solutions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from creval.plugin import Completion, TokenLogprob, Turn
from creval_neocoder.programs.extraction import find_program
from creval_neocoder.techniques.creativity import follows, new_share_at

__all__ = ["EmptyProgram", "FollowingSolution", "GoldAnswer"]


class Player(ABC):
    """Base of the baselines. With `tokens`, answers are one token with a log-probability, for tasks that search."""

    def __init__(self, tokens: bool = False) -> None:
        self._tokens = tokens

    def reply(self, turn: Turn) -> str | Completion:
        """Return the answer."""
        text = self.answer(turn)
        return Completion(text, logprobs=(TokenLogprob(text, 0.0, ((text, 0.0),)),)) if self._tokens else text

    @abstractmethod
    def answer(self, turn: Turn) -> str:
        """Return the text of the answer."""


class EmptyProgram(Player):
    """Answers with a program that does nothing."""

    def answer(self, turn: Turn) -> str:
        """Return the program."""
        return "```python\ndef solve():\n    pass\n```"


class FollowingSolution(Player):
    """Answers with a human Python solution that uses none of the forbidden techniques, if there is one; else with any.

    It is the ceiling of convergent creativity. Of several solutions it takes the one with the greatest share of
    techniques that no other solution to the problem has, since it is compared with the others (Eq. 6).
    """

    def answer(self, turn: Turn) -> str:
        """Return the best Python solution."""
        rows = turn.doc["solutions"]
        lists = [row["techniques"] for row in rows]
        python = [at for at, row in enumerate(rows) if find_program(_fenced(row["source"])) is not None]
        following = [at for at in python if follows(lists[at], turn.doc["constraints"])]
        best = max(following or python, key=lambda at: new_share_at(lists, at), default=None)
        return _fenced(rows[best]["source"]) if best is not None else "There is no solution in Python."


class GoldAnswer(Player):
    """Answers with the gold answer of one of our own problems: it is new, passes and follows every constraint."""

    def answer(self, turn: Turn) -> str:
        """Return the gold answer."""
        return _fenced(turn.doc["gold"])


def _fenced(source: str) -> str:
    return f"```python\n{source}\n```"
