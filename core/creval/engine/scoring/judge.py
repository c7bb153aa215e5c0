"""Scorer `judge`: what a model in the role of the judge says of an answer, as a number.

The prompt, the reading of the verdict and the scale stand in the task file. A verdict that cannot be read is asked for
once more; after that the sample is errored, never given the lowest score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from creval.errors import ScoringError, UsageError
from creval.parsing.chain import build_chain
from creval.plugins.loader import load_plugins
from creval.tasks.model import ComponentRef
from creval.types.components import Context, Expected, Score, ScorerInput
from creval.types.messages import Message

__all__ = ["Judge"]

_TRIES = 2
ROLE = "judge"


class _Verdict(NamedTuple):
    said: Any
    number: float


class Judge:
    """One number a sample: the mean over its answers, over `repeat` independent verdicts, and over both orders.

    `prompt` names the judge's prompt; it is rendered with the doc's fields and `answer` (the parsed value) and `text`
    (what the model said). `parse` are the parsers of the verdict (default: its last number). Either `scale`, [lowest,
    highest], says which numbers are verdicts, or `labels` what each word is worth.

    With `against`, a field of the doc that holds a rival text, the prompt gets `first` and `second` in place of these
    two, and the labels are `first`, `second` and perhaps `tie`: 1 where the answer wins, 0.5 for a tie, 0 where it
    loses. With `both_orders` the pair is asked about in both orders, and the score NAME_agrees says whether both times
    the same text won. `name` is the name of the score. With `reduce: best` a sample of several answers counts by its
    best one (best-of-n) in place of the mean.
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
        self._scale = scale
        self._labels = None if labels is None else {_word(label): worth for label, worth in labels.items()}
        self._check(more)
        self._chain = build_chain(parse or [ComponentRef(self._default_parser())], load_plugins().registry)

    def expected_role_calls(self, fields: Mapping[str, Any], expected: Expected) -> Mapping[str, tuple[int, int]]:
        """The fewest and the most calls for a sample."""
        calls = self._repeat * len(self._orders) * expected.answers
        return {ROLE: (calls, _TRIES * calls)}

    async def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Ask about each answer. Raises ScoringError where the judge's verdicts cannot be read."""
        return [await self._of(item, context) for item in items]

    async def _of(self, item: ScorerInput, context: Context) -> Score:
        if self._against is not None and self._against not in item.doc:
            known = ", ".join(item.doc)
            return Score({}, failure=f"the doc has no field {self._against!r}; it has {known}", errored=True)
        texts = [answer for answer, parsed in zip(item.answers, item.parsed, strict=True) if parsed.ok]
        pairs = list(zip(item.values, texts, strict=True))
        if not pairs:
            return Score({}, failure="the sample has no answer that could be judged")
        asked = [
            self._ask(item, context, self._fields(item, pair, swapped), (draw, swapped))
            for pair in pairs
            for draw in range(self._repeat)
            for swapped in self._orders
        ]
        verdicts = await asyncio.gather(*asked)
        scores = {self.name: self._reduced([verdict.number for verdict in verdicts], len(pairs))}
        if len(self._orders) == 2:
            couples = zip(verdicts[::2], verdicts[1::2], strict=True)
            scores[f"{self.name}_agrees"] = fmean(float(one.number == other.number) for one, other in couples)
        return Score(scores, {f"{self.name}_verdicts": [verdict.said for verdict in verdicts]})

    def _reduced(self, numbers: Sequence[float], answers: int) -> float:
        """Return the mean of all verdicts, or with `reduce: best` that of the answer that they favour most."""
        if not self._best:
            return fmean(numbers)
        each = len(numbers) // answers
        return max(fmean(numbers[start : start + each]) for start in range(0, len(numbers), each))

    def _fields(self, item: ScorerInput, pair: tuple[Any, str], swapped: bool) -> Mapping[str, Any]:
        value, text = pair
        if self._against is None:
            return {"answer": value, "text": text}
        both = (item.doc[self._against], value) if swapped else (value, item.doc[self._against])
        return dict(zip(("first", "second"), both, strict=True))

    async def _ask(
        self, item: ScorerInput, context: Context, fields: Mapping[str, Any], which: tuple[int, bool]
    ) -> _Verdict:
        draw, swapped = which
        messages: Sequence[Message] = context.prompt(self._prompt, item.doc, **fields)
        reason = ""
        for _ in range(_TRIES):
            reply = await context.ask(ROLE, messages, item.key, draw)
            said, number, reason = (None, None, reply.lack) if reply.lack else self._read(reply.text)
            if number is not None:
                return _Verdict(said, 1 - number if swapped else number)
            context.unreadable(reply, reason)
        raise ScoringError(f"the judge's verdict cannot be read, asked {_TRIES} times: {reason}")

    def _read(self, text: str) -> tuple[Any, float | None, str]:
        """Return the verdict as said, its number (None: unreadable), and why it is unreadable."""
        parsed = self._chain.parse(text)
        if not parsed.ok:
            return None, None, parsed.reason or "no parser could read it"
        said = parsed.value
        if self._labels is not None:
            number = self._labels.get(_word(said))
            return said, number, f"{said!r} is none of the labels {', '.join(self._labels)}"
        try:
            number = float(said)
        except (TypeError, ValueError):
            return said, None, f"{said!r} is no number"
        assert self._scale is not None
        low, high = self._scale
        return said, number if low <= number <= high else None, f"{number:g} is not between {low:g} and {high:g}"

    def _default_parser(self) -> str:
        return "text" if self._labels is not None else "last_number"

    def _check(self, more: Mapping[str, Any]) -> None:
        if self._against is not None and self._labels is None and self._scale is None:
            self._labels = {"first": 1.0, "second": 0.0, "tie": 0.5}
        if (self._scale is None) == (self._labels is None):
            raise UsageError("a judge has either a scale or labels", cure="Write scale: [1, 5], or labels: {good: 1}.")
        if self._scale is not None and not self._scale[0] < self._scale[1]:
            raise UsageError(f"{list(self._scale)} is no scale", cure="Write the lowest number first: scale: [1, 5].")
        if self._against is None and more.get("both_orders"):
            raise UsageError("both_orders is for a pair", cure="Name the rival's field: against: reference.")
        if self._against is not None and self._scale is not None:
            raise UsageError(
                "a pair is judged by labels", cure="Leave scale out, or write labels: {first: 1, second: 0}."
            )


def _word(said: Any) -> str:
    return str(said).strip().strip(".\"'*`").casefold()
