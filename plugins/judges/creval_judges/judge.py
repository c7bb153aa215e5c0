"""Scorer `judge`: a judge model's verdict on an answer, as a number.

The task file states the prompt, the parsing of the verdict and the scale. An unreadable verdict is requested
once more; if that fails, the sample is errored, and never gets the lowest score.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from creval.plugin import (
    Context,
    Expected,
    Message,
    Parsed,
    Parser,
    Score,
    ScorerInput,
    ScoringError,
    UsageError,
)
from creval.plugin.judging import ComponentRef, ParserChain, Step, build_steps, load_plugins
from creval_judges.jury import Jury, combined
from creval_judges.verdicts import ScaleVerdict

__all__ = ["Judge"]

_TRIES = 2


class _Verdict(NamedTuple):
    said: Any
    number: float


class Judge:
    """One number per sample: the mean over its answers, over `repeat` independent verdicts, and over both orders.

    `prompt` names the judge's prompt; it is rendered with the doc's fields, `answer` (the parsed value) and `text`
    (the model's output). Either `scale`, [lowest, highest], is the range of verdicts, or `labels` maps each word to its
    value. `parse` are the parsers of the verdict (default: `ScaleVerdict`; with `labels`, the whole text).
    If a parser finds several different values and does not state which to `choose`, the verdict is unreadable.

    With `against`, a doc field with a rival text, the prompt gets `first` and `second` instead of `answer` and `text`,
    and the labels are `first`, `second` and optionally `tie`: 1 if the answer wins, 0.5 for a tie, 0 if it loses. With
    `both_orders` the judge is asked about the pair in both orders, and the score NAME_agrees says whether the same text
    won both times. `name` is the name of the score. With `reduce: best` the score of a sample of several answers is
    that of its best answer (best-of-n) instead of the mean.

    With `over: doc` all answers to a doc (over its repeats) are judged at once: the prompt gets the lists `answers` and
    `texts`, and each sample of the doc has the same number; with fewer than `least` parsed answers there is none, which
    is not a failure.

    With `roles` several models judge: a jury (`Jury`), with a score NAME@ROLE for each juror. The sample is errored
    if one of them gives no verdict.
    """

    def __init__(
        self,
        prompt: str,
        parse: Sequence[ComponentRef] = (),
        scale: Sequence[float] | None = None,
        labels: Mapping[str, float] | None = None,
        **more: Any,
    ) -> None:
        self.name: str = more.get("name", "judge")
        self._prompt = prompt
        self._repeat: int = more.get("repeat", 1)
        self._against: str | None = more.get("against")
        self._orders: tuple[bool, ...] = (False, True) if more.get("both_orders") else (False,)
        self._best: bool = more.get("reduce") == "best"
        self._whole: bool = more.get("over") == "doc"
        self._least: int = more.get("least", 1)
        self._scale = scale
        self._labels = None if labels is None else {str(label).casefold(): worth for label, worth in labels.items()}
        self._jury = Jury.of(more)
        self._check(more)
        worth = (self._labels or {}).values() or (0.0, 1.0)
        self._mirror = min(worth) + max(worth)  # sum of the values of both texts of a pair
        self._verdict = None if self._scale is None else ScaleVerdict(*self._scale)
        self._chain = self._chain_of(parse)

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """Return the fewest and the most calls for a sample."""
        calls = self._repeat * len(self._orders) * (1 if self._whole else expected.answers)
        fewest = 0 if self._jury.draw is not None or self._whole else calls
        return dict.fromkeys(self._jury.roles, (fewest, _TRIES * calls))

    def check_roles(self, context: Context) -> None:
        """Raise UsageError, before the first call, if too few models are left to draw from."""
        self._jury.drawn("", context)

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be judged: it has no rival text; None if it can."""
        if self._against is None or self._against in fields:
            return None
        return f"it has no field {self._against!r}; it has {', '.join(fields)}"

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Ask about each answer. Raises ScoringError if the judge's verdicts are unreadable."""
        return await self._of_doc(items, context) if self._whole else [await self._of(item, context) for item in items]

    async def _of_doc(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Ask about all parsed answers to a doc; unparsed answers are left out and have no score."""
        read = [item for item in items if item.values]
        if not read:
            return [Score({}, failure="the doc has no answer that could be judged") for _ in items]
        if len(read) < self._least:
            return [Score({}) for _ in items]  # too few answers to compare, which is not a failure
        pairs = [pair for item in read for pair in _pairs(item)]
        together = (tuple(value for value, _ in pairs), tuple(text for _, text in pairs))
        score = await self._judged(read[0], [together], context)
        unread = Score({}, failure="the sample has no answer that could be judged")
        return [score if item.values else unread for item in items]

    async def _of(self, item: ScorerInput, context: Context) -> Score:
        if self._against is not None and self._against not in item.doc:
            known = ", ".join(item.doc)
            return Score({}, failure=f"the doc has no field {self._against!r}; it has {known}", errored=True)
        pairs = _pairs(item)
        if not pairs:
            return Score({}, failure="the sample has no answer that could be judged")
        return await self._judged(item, pairs, context)

    async def _judged(self, item: ScorerInput, pairs: Sequence[tuple[Any, Any]], context: Context) -> Score:
        roles = self._jury.drawn(item.key.doc, context)
        asked = [
            self._ask(item, context, self._fields(item, pair, swapped), (role, draw, swapped))
            for role in roles
            for pair in pairs
            for draw in range(self._repeat)
            for swapped in self._orders
        ]
        verdicts = await asyncio.gather(*asked)
        each = len(verdicts) // len(roles)
        by_role = {role: verdicts[i * each : (i + 1) * each] for i, role in enumerate(roles)}
        scores = self._scores({role: [verdict.number for verdict in own] for role, own in by_role.items()}, len(pairs))
        if len(self._orders) == 2:
            couples = zip(verdicts[::2], verdicts[1::2], strict=True)
            scores[f"{self.name}_agrees"] = fmean(float(one.number == other.number) for one, other in couples)
        said = {role: [verdict.said for verdict in own] for role, own in by_role.items()}
        return Score(scores, {f"{self.name}_verdicts": said if self._jury.several else said[roles[0]]})

    def _scores(self, numbers: Mapping[str, Sequence[float]], answers: int) -> dict[str, float]:
        """Return the score of each juror and of the jury, reduced over the answers."""
        if not self._jury.several:
            return {self.name: self._reduced(next(iter(numbers.values())), answers)}
        scores = {f"{self.name}@{role}": self._reduced(own, answers) for role, own in numbers.items()}
        if self._jury.combine == "each":
            return scores
        each = len(next(iter(numbers.values()))) // answers
        starts = range(0, each * answers, each)
        whole = [
            combined(self._jury.combine, [fmean(own[start : start + each]) for own in numbers.values()])
            for start in starts
        ]
        return {self.name: self._reduced(whole, answers), **scores}

    def _reduced(self, numbers: Sequence[float], answers: int) -> float:
        """Return the mean of all verdicts, or with `reduce: best` the highest mean of a single answer."""
        if not self._best:
            return fmean(numbers)
        each = len(numbers) // answers
        return max(fmean(numbers[start : start + each]) for start in range(0, len(numbers), each))

    def _fields(self, item: ScorerInput, pair: tuple[Any, Any], swapped: bool) -> Mapping[str, Any]:
        value, text = pair
        if self._whole:
            return {"answers": list(value), "texts": list(text)}
        if self._against is None:
            return {"answer": value, "text": text}
        both = (item.doc[self._against], value) if swapped else (value, item.doc[self._against])
        return dict(zip(("first", "second"), both, strict=True))

    async def _ask(
        self, item: ScorerInput, context: Context, fields: Mapping[str, Any], which: tuple[str, int, bool]
    ) -> _Verdict:
        role, draw, swapped = which
        apart: Mapping[str, Any] = {"apart": True} if self._jury.has_twin(role, context) else {}
        messages: Sequence[Message] = context.prompt(self._prompt, item.doc, **fields)
        reason = ""
        for _ in range(_TRIES):
            reply = await context.ask(role, messages, item.key, draw, **apart)
            said, number, reason = (None, None, reply.lack) if reply.lack else self._read(reply.text)
            if number is not None:
                return _Verdict(said, self._mirror - number if swapped else number)
            context.unreadable(reply, reason)
        raise ScoringError(f"the {role}'s verdict cannot be read, asked {_TRIES} times: {reason}")

    def _read(self, text: str) -> tuple[Any, float | None, str]:
        """Return the verdict as parsed, its number (None: unreadable), and why it is unreadable."""
        parsed = self._chain.parse(text)
        if not parsed.ok:
            return None, None, parsed.reason or "no parser could read it"
        said = parsed.value
        if self._verdict is not None:
            number = self._verdict.whole(said)
            return said, number.value, f"{str(said)[:40]!r} is not a verdict: {number.reason}"
        labels = self._labels or {}
        worth = next((labels[form] for form in _forms(said) if form in labels), None)
        return said, worth, f"{str(said)[:40]!r} is none of the labels {', '.join(labels)}"

    def _chain_of(self, refs: Sequence[ComponentRef]) -> ParserChain:
        """Return the chain of the verdict's parsers, each of which refuses ambiguous values."""
        if not refs and self._verdict is not None:
            return ParserChain([Step("verdict", self._verdict, False)])
        registry = load_plugins().registry
        steps = []
        for ref in refs or [ComponentRef("text")]:
            (step,) = build_steps([ref], registry)
            if self._verdict is not None and ref.name.removeprefix("core/") == "last_number":
                step = step._replace(parser=_OffScale(step.parser, self._verdict))
            elif (rivals := _rivals(ref)) is not None:
                step = step._replace(parser=_Agreed(step.parser, build_steps([rivals], registry)[0].parser))
            steps.append(step)
        return ParserChain(steps)

    def _check(self, more: Mapping[str, Any]) -> None:
        if self._against is not None and self._labels is None and self._scale is None:
            self._labels = {"first": 1.0, "second": 0.0, "tie": 0.5}
        if (self._scale is None) == (self._labels is None):
            raise UsageError("a judge has either a scale or labels", fix="Write scale: [1, 5], or labels: {good: 1}.")
        if self._scale is not None and not self._scale[0] < self._scale[1]:
            raise UsageError(f"{list(self._scale)} is not a scale", fix="Write the lowest number first: scale: [1, 5].")
        together = [name for name in ("against", "both_orders", "reduce") if name in more]
        if self._whole and together:
            raise UsageError(f"over: doc cannot have {together[0]}", fix="Leave one of the two out.")
        if "least" in more and not self._whole:
            raise UsageError("least needs over: doc", fix="Write over: doc, or leave it out.")
        if self._against is None and more.get("both_orders"):
            raise UsageError("both_orders needs a pair", fix="Name the rival's field: against: reference.")
        Jury.check_stated(more)
        self._jury.check()
        if self._against is not None and self._scale is not None:
            raise UsageError(
                "a pair is judged by labels", fix="Leave scale out, or write labels: {first: 1, second: 0}."
            )


def _pairs(item: ScorerInput) -> list[tuple[Any, str]]:
    """Return the value and the text of each parsed answer."""
    texts = [answer for answer, parsed in zip(item.answers, item.parsed, strict=True) if parsed.ok]
    return list(zip(item.values, texts, strict=True))


@dataclass(frozen=True)
class _OffScale:
    """A parser of numbers that gets a verdict without its scale."""

    parser: Parser
    verdict: ScaleVerdict

    def parse(self, text: Any) -> Parsed:
        return self.parser.parse(self.verdict.without_scale(text) if isinstance(text, str) else text)


@dataclass(frozen=True)
class _Agreed:
    """A parser whose value counts only if all other values found in the text are equal: a quotation is no verdict."""

    parser: Parser
    rivals: Parser

    def parse(self, text: Any) -> Parsed:
        found, others = self.parser.parse(text), self.rivals.parse(text)
        if not found.ok or not others.ok:
            return found
        several = isinstance(others.value, list) and not isinstance(found.value, list)
        values = others.value if several else [others.value]
        differing = next((value for value in values if _plain(value) != _plain(found.value)), None)
        if differing is None:
            return found
        return Parsed.failure(f"it says both {str(found.value)[:40]!r} and {str(differing)[:40]!r}", found.route)


_RIVALS = {"regex": "all", "tagged": "first", "json_object": "first"}


def _rivals(ref: ComponentRef) -> ComponentRef | None:
    """Return the parser that finds the other values in a text; None if the task file states which one counts."""
    choose = _RIVALS.get(ref.name.removeprefix("core/"))
    if choose is None or "choose" in ref.parameters:
        return None
    return ComponentRef(ref.name, {**ref.parameters, "choose": choose})


def _plain(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value


def _forms(said: Any) -> Iterator[str]:
    """Yield a verbal verdict with less and less punctuation around it (`"YES!"`: yes)."""
    text = str(said).strip().casefold()
    forms = (text, text.strip(".\"'*`"), re.sub(r"^[\W_]+|[\W_]+$", "", text))
    yield from (form for form in forms if form)
