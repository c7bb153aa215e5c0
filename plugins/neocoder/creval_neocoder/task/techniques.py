"""Scorer `neocoder_techniques`: the techniques of a program and their creativity. Calls the augmenter."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from creval.plugin import (
    Context,
    Expected,
    Message,
    MissingScore,
    Reply,
    SampleKey,
    Score,
    ScorerInput,
    ScoringError,
    Status,
)
from creval_neocoder.programs.extraction import is_python, runnable
from creval_neocoder.programs.verdicts import Verdict
from creval_neocoder.task.docs import Tests
from creval_neocoder.task.tests import Judge
from creval_neocoder.techniques.agreement import agreement
from creval_neocoder.techniques.creativity import follows, new_share, union_of
from creval_neocoder.techniques.syntax import SEEN, techniques_of
from creval_neocoder.techniques.vocabulary import MOST, Listed, Unreadable, read_techniques

__all__ = ["AUGMENTER", "TRIES", "Asking", "Creativity", "detect", "lacking"]

AUGMENTER = "augmenter"
TRIES = 3
"""Maximum number of requests for a program's techniques."""
_NO_HUMAN = MissingScore(Status.SKIPPED, "no human solution to this problem is published")


class Asking(Protocol):
    """The part of a context that detection needs: see `creval.plugin.Context`."""

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]: ...

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey) -> Reply: ...

    def unreadable(self, reply: Reply, reason: str) -> None: ...


async def detect(program: str, key: SampleKey, doc: Mapping[str, Any], context: Asking) -> Listed:
    """Return the techniques that the augmenter finds in a program; each distinct program is requested once per run.

    A list that is unreadable or has more than ten names is requested again, three times in all. Then raises
    ScoringError: that is the augmenter's fault, never the program's.
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
            if len(found.names) <= MOST:
                return found
            reason = f"names {len(found.names)} techniques at once"
        context.unreadable(reply, reason)
    raise ScoringError(
        f"the {AUGMENTER}'s list of techniques cannot be read ({reason})",
        where=key.doc,
        fix="Use another augmenter: creval score RUN --role augmenter=PROVIDER/MODEL",
    )


class Creativity:
    """Scores `constraint_following`, `convergent`, `divergent`, `neogauge` (Eqs. 2 to 4), and the syntax agreement.

    `listed` divides by the length of the augmenter's list with duplicates, as the released code does.
    `human_techniques`: T-hat of Eq. 3 from the authors' lists, or from the augmenter's own lists of the human
    solutions (`detect`), which take one request per solution and run. A baseline that answers with a human solution is
    compared with the other ones (Eq. 6's L-hat), since otherwise none of its techniques could be new.

    A problem without a human solution has no `divergent` or `neogauge`, and with `released` no `convergent`: in
    Table 3 these are over the problems that have one.

    `syntax_precision` and `syntax_recall` compare the syntax detector with the augmenter on the techniques that
    it can detect: a cross-check that affects no score.
    """

    def __init__(
        self,
        tests: Tests = "annotated",
        seconds: float = 5.0,
        released: bool = False,
        listed: bool = False,
        human_techniques: Literal["shipped", "detect"] = "shipped",
    ) -> None:
        self._tests: Tests = tests
        self._seconds = seconds
        self._released = released
        self._listed = listed
        self._detect = human_techniques == "detect"

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the calls of the augmenter for a program, and for the human solutions if it is asked about them."""
        programs = 1 + (len(fields["solutions"]) if self._detect else 0)
        return {AUGMENTER: (programs, programs * TRIES)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Score programs, concurrently."""
        judge = Judge(context.resource("sandbox"), self._tests, self._seconds, self._released)
        return list(await asyncio.gather(*(self._score_sample(judge, item, context) for item in items)))

    async def _score_sample(self, judge: Judge, item: ScorerInput, context: Context) -> Score:
        missing = lacking(item.doc, self._released)
        if not item.values:
            return Score({}, missing=missing)
        listed = await detect(item.value, item.key, item.doc, context)
        techniques = listed.names
        correct = await judge.verdict(item.value, item.answers[-1], item.doc) is Verdict.ACCEPTED
        follow = follows(techniques, item.doc["constraints"])
        convergent = float(follow and correct)
        scores = {"constraint_following": float(follow), "convergent": convergent}
        human = await self._human(item, context)
        if human:
            share = new_share(techniques, union_of(human), self._listed)
            scores |= {"divergent": share, "neogauge": share * convergent}
        syntax = techniques_of(item.value)
        whole = agreement([syntax], [SEEN.intersection(techniques)])[-1]
        measured = {"syntax_precision": whole.precision, "syntax_recall": whole.recall}
        scores |= {name: value for name, value in measured.items() if value is not None}
        details = {"techniques": list(techniques), "unknown": list(listed.unknown), "syntax": sorted(syntax)}
        given = {name: value for name, value in scores.items() if name not in missing}
        return Score(given, details, missing=missing)

    async def _human(self, item: ScorerInput, context: Context) -> Sequence[Sequence[str]]:
        """Return the techniques of the human solutions to compare a program with, one list per solution."""
        solutions = [row for row in item.doc["solutions"] if not (by_baseline(item) and _is(item.value, row["source"]))]
        if not self._detect:
            return [row["techniques"] for row in solutions]
        asked = (detect(row["source"], item.key, item.doc, context) for row in solutions)
        return [listed.names for listed in await asyncio.gather(*asked)]


def lacking(doc: Mapping[str, Any], released: bool) -> dict[str, MissingScore]:
    """Return the scores that a problem lacks, whatever the answer."""
    if doc["solutions"]:
        return {}
    names = ("convergent", "divergent", "neogauge") if released else ("divergent", "neogauge")
    return dict.fromkeys(names, _NO_HUMAN)


def by_baseline(item: ScorerInput) -> bool:
    """Return whether a baseline gave the answer."""
    reply = item.calls[-1].reply if item.calls else None
    return reply is not None and str(reply.model).startswith("baseline/")


def _is(program: str, source: str) -> bool:
    """Return whether a program is the one extracted from a human solution."""
    return is_python(source) and runnable(source) == program
