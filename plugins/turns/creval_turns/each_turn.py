"""Scorer `each_turn`: apply another scorer to each turn of a conversation, and average over all turns."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from creval.plugin import (
    CallRecord,
    Context,
    Expected,
    MissingScore,
    Score,
    ScorerInput,
    Status,
    UsageError,
    counted,
)
from creval.plugin.judging import Raters
from creval.plugin.loading import load_plugins

__all__ = ["EachTurn", "names_by_turn", "ranges_by_turn", "raters_of_means"]

_SHOWN_TURNS = 10
"""Maximum number of turns whose scores get the inner scorer's declared range."""


@dataclass(frozen=True)
class EachTurn:
    """Scores NAME@1, NAME@2 ... for the inner scorer's NAME in each turn, and NAME, their mean.

    The inner scorer sees one turn as a sample with one answer. The doc's fields also contain `turn` (from 1),
    `question` (the user's message) and `conversation` (all before the answer, as a list of `role` and `content`); for
    each field in `fields`, which has an item per turn, it gets that turn's item. With `turns: last` only the last turn
    is scored, as NAME.

    If an answer is unreadable, or the inner scorer cannot score it, that turn has no score, and there is no mean. If
    a conversation ended at a truncated, refused or empty turn, the turns before it have scores, but there is no mean.
    """

    score_by: Any
    fields: Sequence[str] = ()
    turns: str = "all"
    _inner: Any = field(init=False, repr=False, compare=False)

    def __init__(self, score: Any, fields: Sequence[str] = (), turns: str = "all") -> None:
        component = load_plugins().registry.get("scorer", score.name)
        if component.scorer_traits(score.parameters).unit == "doc":
            raise UsageError(
                f"the scorer {score.name!r} scores all repeats of a doc at once, so it cannot score one turn",
                where="scorer each_turn",
                fix="Write it next to each_turn, not in it.",
            )
        for name, value in (("score_by", score), ("fields", tuple(fields)), ("turns", turns)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_inner", component.make_scorer(score.parameters))

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: a field without items per turn, or the inner scorer's reason."""
        for name in self.fields:
            if not isinstance(fields.get(name), list | tuple) or not fields[name]:
                return f"its {name!r} is not a list with an item for each turn"
        lengths = {name: len(fields[name]) for name in self.fields}
        if len(set(lengths.values())) > 1:
            return f"these lists differ in length: {', '.join(f'{name} ({n})' for name, n in lengths.items())}"
        if not hasattr(self._inner, "doc_fault"):
            return None
        faults = (self._inner.doc_fault(self._doc(fields, at)) for at in range(max(lengths.values(), default=1)))
        return next((fault for fault in faults if fault), None)

    def check_roles(self, context: Context) -> None:
        """Let the inner scorer check the models of its roles."""
        if hasattr(self._inner, "check_roles"):
            self._inner.check_roles(context)

    def expected_role_calls(
        self, fields: Mapping[str, Any], expected: Expected
    ) -> Mapping[str, tuple[int, int | None]]:
        """Return the fewest and the most calls of the inner scorer, for every turn."""
        if not hasattr(self._inner, "expected_role_calls"):
            return {}
        counted = getattr(expected.protocol, "expected_calls", None)
        turns = 1 if counted is None or self.turns == "last" else counted(fields)[1]
        single = self._inner.expected_role_calls(self._doc(fields, 0), Expected(expected.protocol, 1))
        return {role: (low * turns, None if high is None else high * turns) for role, (low, high) in single.items()}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        """Score the turns of each sample. Raises the errors of the inner scorer."""
        return [await self._of(item, context) for item in items]

    async def _of(self, item: ScorerInput, context: Context) -> Score:
        places = range(len(item.answers))
        broken = sum(call.role == "target" for call in item.calls) > len(places)
        if broken and self.turns == "last":
            return Score({})
        chosen = [place for place in places if self.turns == "all" or place == places[-1]]
        asked = _conversations(item.calls) if len(item.calls) else []
        short = next((name for name in self.fields if len(item.doc.get(name, ())) < len(places)), None)
        if short is not None:
            held = counted(len(item.doc.get(short, ())), "items")
            what = f"the field {short!r} has {held} for {counted(len(places), 'turns')}"
            return Score({}, failure=what, errored=True)
        readable = [place for place in chosen if item.parsed[place].ok]
        inputs = {place: self._input(item, place, asked) for place in readable}
        found = dict(zip(inputs, await self._scored(list(inputs.values()), context), strict=True))
        unread = {place: Score({}, failure=item.parsed[place].reason) for place in chosen if place not in found}
        whole = self._joined({place: (found | unread)[place] for place in chosen})
        return _of_turns(whole, len(places)) if broken else whole

    def _doc(self, fields: Mapping[str, Any], place: int) -> dict[str, Any]:
        return {**fields, **{name: fields[name][place] for name in self.fields}}

    def _input(self, item: ScorerInput, place: int, asked: Sequence[Sequence[Mapping[str, Any]]]) -> ScorerInput:
        about: dict[str, Any] = {"turn": place + 1}
        before = asked[place] if place < len(asked) else ()
        if all("content" in each for each in before):  # a run that stores docs by reference has no texts
            said = next((each["content"] for each in reversed(before) if each["role"] == "user"), "")
            about |= {"question": said, "conversation": list(before)}
        return replace(
            item,
            doc={**self._doc(item.doc, place), **about},
            values=(item.parsed[place].value,),
            answers=(item.answers[place],),
            parsed=(item.parsed[place],),
        )

    async def _scored(self, inputs: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        if not inputs:
            return []
        if inspect.iscoroutinefunction(self._inner.score):
            each = await asyncio.gather(*(self._inner.score([single], context) for single in inputs))
            return [score for (score,) in each]
        given: Sequence[Score] = self._inner.score(inputs, context)
        return given

    def _joined(self, scores: Mapping[int, Score]) -> Score:
        """Return the scores of all turns under their names, their means, and the reasons for missing ones."""
        failed = {place: score for place, score in scores.items() if score.failure is not None}
        names = list(dict.fromkeys(name for score in scores.values() for name in score.scores))
        if len(failed) == len(scores) and not names:
            return next(iter(failed.values())) if failed else Score({}, failure="the sample has no answer")
        numbers: dict[str, float] = {}
        missing: dict[str, MissingScore] = {}
        for name in names:
            lacks = {place: lack for place, score in scores.items() if (lack := _lack(score, name)) is not None}
            given = {place: scores[place].scores[name] for place in scores if place not in lacks}
            if self.turns == "all":
                numbers |= {f"{name}@{place + 1}": value for place, value in given.items()}
                missing |= {f"{name}@{place + 1}": lack for place, lack in lacks.items()}
            if lacks:
                missing[name] = next((each for each in lacks.values() if each.status is Status.ERRORED), None) or next(
                    iter(lacks.values())
                )
            else:
                numbers[name] = fmean(given.values())
        details = {"each_turn": [dict(score.details or {}) for score in scores.values()]}
        return Score(numbers, details if any(details["each_turn"]) else None, missing=missing)


def _of_turns(score: Score, turns: int) -> Score:
    """Return the scores of single turns: an unfinished conversation has no mean."""
    ends = tuple(f"@{turn}" for turn in range(1, turns + 1))
    return replace(
        score,
        scores={name: value for name, value in score.scores.items() if name.endswith(ends)},
        missing={name: lack for name, lack in score.missing.items() if name.endswith(ends)},
    )


def _lack(score: Score, name: str) -> MissingScore | None:
    """Return why a turn lacks a score, None if it has one."""
    if name in score.missing:
        return score.missing[name]
    if score.failure is not None:
        return MissingScore(Status.ERRORED if score.errored else Status.UNPARSED, score.failure)
    return None if name in score.scores else MissingScore(Status.ERRORED, f"the turn has no score {name!r}")


def _conversations(calls: Sequence[CallRecord]) -> Sequence[Sequence[Mapping[str, Any]]]:
    """Return the messages of each call to the target."""
    found: list[list[Mapping[str, Any]]] = []
    for call in calls:
        if call.role == "target":
            found.append([*(found[-1][: call.kept] if found else ()), *call.messages])
    return found


def raters_of_means(parameters: Mapping[str, Any]) -> Raters | None:
    """Return the inner jurors: their means over turns are compared, as numbers; for the last turn, its verdicts."""
    ref = parameters.get("score")
    if ref is None:  # called without a task
        return None
    within = load_plugins().registry.get("scorer", ref.name).scorer_traits(ref.parameters).raters
    if within is None or parameters.get("turns") == "last":
        return within
    return within._replace(level="interval", of="means over the turns")


def names_by_turn(parameters: Mapping[str, Any]) -> Sequence[str]:
    """Return the names of the scores: those of the inner scorer, and with all turns `NAME@*` for each turn."""
    ref = parameters["score"]
    inner = load_plugins().registry.get("scorer", ref.name).scores_of(ref.parameters)
    if parameters.get("turns") == "last":
        return inner
    return [*inner, *(f"{name}@*" for name in inner if name != "*")]


def ranges_by_turn(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ranges of the scores: by turn those of the inner scorer, for the mean the same bounds."""
    ref = parameters["score"]
    inner = load_plugins().registry.get("scorer", ref.name)
    declared = inner.ranges(ref.parameters) if callable(inner.ranges) else inner.ranges
    binary = {name: (0, 1) if ends == "0/1" else ends for name, ends in declared.items()}
    whole = declared if parameters.get("turns") == "last" else binary
    by_turn = {f"{name}@{turn}": ends for name, ends in declared.items() for turn in range(1, _SHOWN_TURNS + 1)}
    return {**by_turn, **whole}
