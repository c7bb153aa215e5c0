"""Scorers that compare a parsed answer with a field of the doc."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.errors import ScoringError
from creval.types.components import Context, Scorable, Score

__all__ = ["ExactMatch", "Includes", "Numeric"]


def target_of(doc: Mapping[str, Any], name: str) -> Any:
    """Return the field of the doc that holds the right answer. Raises ScoringError where it is missing."""
    try:
        return doc[name]
    except KeyError as error:
        raise ScoringError(f"the doc has no field {name!r}; it has: {', '.join(doc)}") from error


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """1 where the answer equals the doc's `target` field (or one of a list of them), else 0."""

    target: str = "target"
    ignore_case: bool = False
    strip: bool = True

    def score(self, items: Sequence[Scorable], context: Context) -> list[Score]:
        """Return `exact_match` for each sample."""
        return [Score({"exact_match": float(self._matches(item))}) for item in items]

    def _matches(self, item: Scorable) -> bool:
        target = target_of(item.doc, self.target)
        rights = target if isinstance(target, list) else [target]
        return self._norm(item.value) in [self._norm(right) for right in rights]

    def _norm(self, value: Any) -> Any:
        text = value if isinstance(value, str) else str(value)
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, slots=True)
class Includes:
    """1 where the doc's `target` text stands somewhere in the answer, else 0."""

    target: str = "target"
    ignore_case: bool = True

    def score(self, items: Sequence[Scorable], context: Context) -> list[Score]:
        """Return `includes` for each sample."""
        return [Score({"includes": float(self._includes(item))}) for item in items]

    def _includes(self, item: Scorable) -> bool:
        right, answer = str(target_of(item.doc, self.target)), str(item.value)
        return right.casefold() in answer.casefold() if self.ignore_case else right in answer


@dataclass(frozen=True, slots=True)
class Numeric:
    """1 where the answer, a number, is the doc's `target` within `tolerance` (absolute) or `relative` of it."""

    target: str = "target"
    tolerance: float = 0.0
    relative: float = 0.0

    def score(self, items: Sequence[Scorable], context: Context) -> list[Score]:
        """Return `numeric` for each sample; an answer that is no number has no score."""
        return [self._score(item) for item in items]

    def _score(self, item: Scorable) -> Score:
        right = float(target_of(item.doc, self.target))
        try:
            answer = float(item.value)
        except (TypeError, ValueError):
            return Score({}, failure=f"{str(item.value)[:80]!r} is no number")
        close = math.isclose(answer, right, rel_tol=self.relative, abs_tol=self.tolerance)
        return Score({"numeric": float(close)})
