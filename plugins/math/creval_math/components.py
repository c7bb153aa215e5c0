"""Parser `math` and scorer `math_equal`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Context, Parsed, Score, ScorerInput
from creval.plugin.parsing import is_refusal, refused
from creval_math.expressions import expressions, plain_number
from creval_math.process import MathError, shared

__all__ = ["Math", "MathEqual"]

_SHOWN = 60


@dataclass(frozen=True)
class Math:
    """The last expression of an answer as LaTeX, which math-verify must be able to read.

    Searched for in a `\\boxed{}`, then after words that announce an answer, then between dollar signs or `\\( \\)`,
    then in the last line. Numbers are read by creval's reader, which never reads a part of one: `4,2` is unparsed.
    """

    choose: Literal["last", "first"] = "last"
    seconds: float = 5.0

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return Parsed.failure("the answer is not a text")
        if is_refusal(text):
            return refused()
        for route, found in expressions(text):
            ordered = found[::-1] if self.choose == "last" else found
            expression = ordered[0].strip()
            try:
                number = plain_number(expression)
                if number is None:
                    shared().read(expression, self.seconds)
            except (MathError, ValueError) as error:
                return Parsed.failure(f"{expression[:_SHOWN]!r} cannot be read as an expression: {error}")
            return Parsed(expression if number is None else number, route=route)
        return Parsed.failure("the answer has no expression")


@dataclass(frozen=True)
class MathEqual:
    """1 if an answer equals the doc's expression, by value: `2\\sqrt{2}` equals `\\sqrt{8}`.

    An expression that takes longer than `seconds` to compare counts as unequal.
    """

    field: str = "target"
    seconds: float = 5.0

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: the field is missing or not an expression; None if it can."""
        if self.field not in fields:
            return f"it has no field {self.field!r}; it has {', '.join(fields)}"
        for target in _targets(fields[self.field]):
            try:
                if plain_number(target) is None:
                    shared().read(target, self.seconds)
            except (MathError, ValueError) as error:
                return f"its {self.field} {target[:_SHOWN]!r} is not an expression: {error}"
        return None

    def _score(self, item: ScorerInput) -> Score:
        fault = None if self.field in item.doc else f"the doc has no field {self.field!r}"
        if fault is not None or not item.values:
            return Score({}, failure=fault or "there is no answer", errored=fault is not None)
        targets = _targets(item.doc[self.field])
        right = [any(self._equal(target, str(value)) for target in targets) for value in item.values]
        return Score({"math_equal": sum(right) / len(right)})

    def _equal(self, target: str, value: str) -> bool:
        if re.sub(r"\s", "", target) == re.sub(r"\s", "", value):
            return True
        try:
            return shared().equal(target, value, self.seconds)
        except MathError:
            return False


def _targets(given: Any) -> list[str]:
    return [str(each) for each in (given if isinstance(given, list) else [given])]
