"""Scorer `neocoder_techniques`: which techniques does the program use, and is that creative? Asks the augmenter."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from creval.plugin import Context, Expected, Message, Reply, SampleKey, Scorable, Score, ScoringError
from creval_neocoder.programs.verdicts import Verdict
from creval_neocoder.task.docs import Tests
from creval_neocoder.task.tests import Judge
from creval_neocoder.techniques.creativity import follows, new_share
from creval_neocoder.techniques.syntax import techniques_of
from creval_neocoder.techniques.vocabulary import MOST, Unreadable, read_techniques

__all__ = ["AUGMENTER", "TRIES", "Asking", "Creativity", "detect"]

AUGMENTER = "augmenter"
TRIES = 3
"""So often at most a program's techniques are asked for."""


class Asking(Protocol):
    """What detection needs of a context: see `creval.plugin.Context`."""

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]: ...

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey) -> Reply: ...

    def unreadable(self, reply: Reply, reason: str) -> None: ...


async def detect(program: str, key: SampleKey, doc: Mapping[str, Any], context: Asking) -> tuple[str, ...]:
    """Return the techniques that the augmenter finds in a program; each distinct program is asked for once a run.

    A list that cannot be read or holds more than ten names is asked for again, three times in all. Raises ScoringError
    then: that is the augmenter's fault, never the program's.
    """
    messages = context.prompt("techniques", doc, program=program)
    reason = ""
    for _ in range(TRIES):
        reply = await context.ask(AUGMENTER, messages, key)
        try:
            if reply.lack:
                raise Unreadable(reply.lack)
            found = read_techniques(reply.text)
        except Unreadable as error:
            reason = str(error)
        else:
            if len(found) <= MOST:
                return found
            reason = f"names {len(found)} techniques at once"
        context.unreadable(reply, reason)
    raise ScoringError(
        f"the {AUGMENTER}'s list of techniques cannot be read ({reason})",
        where=key.doc,
        cure="Take another augmenter: creval score RUN --role augmenter=PROVIDER/MODEL",
    )


class Creativity:
    """Gives `follow`, `convergent`, `divergent` and `neogauge` (Eqs. 2 to 4).

    What the syntax detector sees stands beside the augmenter's list in the details, and enters no score. `listed`
    divides by the augmenter's list with its doubles, as the released code does.
    """

    def __init__(
        self, tests: Tests = "annotated", seconds: float = 5.0, released: bool = False, listed: bool = False
    ) -> None:
        self._tests: Tests = tests
        self._seconds = seconds
        self._released = released
        self._listed = listed

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the calls of the augmenter for a program."""
        return {AUGMENTER: (1, TRIES)}

    async def score(self, items: Sequence[Scorable], context: Context) -> Sequence[Score]:
        """Score programs, several at once."""
        judge = Judge(context.resource("sandbox"), self._tests, self._seconds, self._released)
        return list(await asyncio.gather(*(self._one(judge, item, context) for item in items)))

    async def _one(self, judge: Judge, item: Scorable, context: Context) -> Score:
        techniques = await detect(item.value, item.key, item.doc, context)
        correct = await judge.verdict(item.value, item.answers[-1], item.doc) is Verdict.ACCEPTED
        follow = follows(techniques, item.doc["constraints"])
        scores = {"follow": float(follow), "convergent": float(follow and correct)}
        if item.doc["human"]:
            share = new_share(techniques, item.doc["human"], self._listed)
            scores |= {"divergent": share, "neogauge": share * scores["convergent"]}
        syntax = techniques_of(item.value)
        return Score(scores, {"techniques": list(techniques), "syntax": sorted(syntax)})
