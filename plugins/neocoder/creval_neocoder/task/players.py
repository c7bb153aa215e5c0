"""Baselines: the floor of an empty program, and the ceiling of convergent creativity by human solutions."""

from __future__ import annotations

from creval.plugin import Completion, TokenLogprob, Turn
from creval_neocoder.programs.extraction import find_program
from creval_neocoder.techniques.creativity import follows

__all__ = ["EmptyProgram", "FollowingSolution", "GoldAnswer"]


class Player:
    """What the players share. With `tokens` an answer is one token with its log-probability, for tasks that search."""

    def __init__(self, tokens: bool = False) -> None:
        self._tokens = tokens

    def reply(self, turn: Turn) -> str | Completion:
        """Return the answer."""
        text = self.answer(turn)
        return Completion(text, logprobs=(TokenLogprob(text, 0.0, ((text, 0.0),)),)) if self._tokens else text

    def answer(self, turn: Turn) -> str:
        """Return the text of the answer."""
        raise NotImplementedError


class EmptyProgram(Player):
    """Answers with a program that does nothing."""

    def answer(self, turn: Turn) -> str:
        """Return it."""
        return "```python\ndef solve():\n    pass\n```"


class FollowingSolution(Player):
    """Answers with a human Python solution that uses none of the forbidden techniques, where there is one; else any.

    It is a ceiling of convergent creativity alone: a human solution's techniques are among the human ones by
    construction, so its divergent creativity and NeoGauge are 0.
    """

    def answer(self, turn: Turn) -> str:
        """Return the first that follows, of those that are Python."""
        python = [row for row in turn.doc["solutions"] if find_program(_fenced(row["source"])) is not None]
        following = [row for row in python if follows(row["techniques"], turn.doc["constraints"])]
        best = next(iter([*following, *python]), None)
        return _fenced(best["source"]) if best is not None else "There is no solution in Python."


class GoldAnswer(Player):
    """Answers with the gold answer of a problem of ours: it passes, follows every constraint, and is new."""

    def answer(self, turn: Turn) -> str:
        """Return it."""
        return _fenced(turn.doc["gold"])


def _fenced(source: str) -> str:
    return f"```python\n{source}\n```"
