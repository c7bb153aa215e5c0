"""Scorers that compare the parsed answer with a field of the doc."""

from __future__ import annotations

import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from creval.types.components import Context, Score, ScorerInput

__all__ = ["ExactMatch", "Includes", "Numeric"]


@dataclass(frozen=True)
class _Matching(ABC):
    """Base: looks up the doc's targets (one, or a list of which any will do) and scores the share of right answers.

    Every answer of the sample is compared. `reduce` says what becomes of several (`n: 3`): their `mean`; the `best` (1
    where one is right: best-of-n); or the `majority`, where the answer given most often counts alone (self-consistency,
    Wang et al. 2023, arXiv:2203.11171; of two given equally often the one that came first). For the mean one answer
    that cannot be read or compared fails the sample; for the other two it is no answer.
    `matches` raises ValueError where the answer cannot be read (the sample is unparsed), TypeError where the task is at
    fault (errored). A doc without the field is such a fault too, not a wrong answer.
    """

    field: str = "target"
    reduce: str = "mean"

    name = "match"
    takes: ClassVar[frozenset[str]] = frozenset({"text", "number"})
    """The kinds of value that it can compare."""

    @property
    def reads_some(self) -> bool:
        """Whether a sample of which some answers cannot be read is scored all the same."""
        return self.reduce != "mean"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def _score(self, item: ScorerInput) -> Score:
        if self.field not in item.doc:
            known = ", ".join(item.doc)
            return Score({}, failure=f"the doc has no field {self.field!r}; it has {known}", errored=True)
        target = item.doc[self.field]
        targets = target if isinstance(target, list) else [target]
        values = item.values or (None,)  # a protocol that gave no answer cannot be compared: `matches` says so
        try:
            return Score({self.name: self._reduced(values, targets)})
        except ValueError as error:
            return Score({}, failure=str(error))
        except TypeError as error:
            return Score({}, failure=str(error), errored=True)

    def _reduced(self, values: Sequence[Any], targets: Sequence[Any]) -> float:
        """Return the score of all answers. Raises ValueError where none can be compared, else as `matches` does."""
        if self.reduce == "mean":
            right = [any(self.matches(value, wanted) for wanted in targets) for value in values]
            return sum(right) / len(right)
        if not targets:
            return 0.0
        answers = [value for value in values if self._comparable(value, targets)]
        if not answers:
            raise ValueError("none of the answers can be compared")
        if self.reduce == "majority":
            answers = [_most_common(answers, self.matches)]
        return float(any(self.matches(value, wanted) for value in answers for wanted in targets))

    def _comparable(self, value: Any, targets: Sequence[Any]) -> bool:
        try:
            self.matches(value, targets[0])
        except ValueError:
            return False
        return True

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Say what keeps a doc from being scored: it lacks the field, or holds nothing to compare with."""
        if self.field not in fields:
            return f"it has no field {self.field!r}; it has {', '.join(fields)}"
        target = fields[self.field]
        for wanted in target if isinstance(target, list) else [target]:
            try:
                self.matches(wanted, wanted)
            except (ValueError, TypeError) as error:
                return f"its {self.field!r} is {str(wanted)[:60]!r}: {error}"
        return None

    @abstractmethod
    def matches(self, value: Any, target: Any) -> bool:
        """Say whether an answer is a target."""


def _most_common(values: Sequence[Any], same: Callable[[Any, Any], bool]) -> Any:
    """Return the value that was given most often, in whatever spelling counts as the same; of equals the first."""
    classes: list[list[Any]] = []
    for value in values:
        home = next((each for each in classes if same(value, each[0])), None)
        if home is None:
            classes.append([value])
        else:
            home.append(value)
    return max(classes, key=len)[0]


@dataclass(frozen=True)
class _TextMatching(_Matching, ABC):
    ignore_case: bool = False
    ignore_punctuation: bool = False

    def _plain(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(f"{self.name} compares texts and numbers, not a {type(value).__name__}: add a parser")
        text = unicodedata.normalize("NFC", f"{value:g}" if isinstance(value, float) else str(value))
        if self.ignore_punctuation:
            text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
        return " ".join((text.casefold() if self.ignore_case else text).split())


@dataclass(frozen=True)
class ExactMatch(_TextMatching):
    """Score `exact_match`: 1 where the answer is the target, else 0.

    White space at the ends is ignored and runs of it inside count as one space; with `ignore_case` and
    `ignore_punctuation` letter case and punctuation too.
    """

    name = "exact_match"

    def matches(self, value: Any, target: Any) -> bool:
        return self._plain(value) == self._plain(target)


@dataclass(frozen=True)
class Includes(_TextMatching):
    """Score `includes`: 1 where the target occurs in the answer, else 0. Options as in `exact_match`."""

    name = "includes"

    def matches(self, value: Any, target: Any) -> bool:
        return self._plain(target) in self._plain(value)


@dataclass(frozen=True)
class Numeric(_Matching):
    """Score `numeric`: 1 where |answer - target| <= max(`absolute`, `relative` * |target|), else 0."""

    absolute: float = 0.0
    relative: float = 1e-9

    name = "numeric"

    def matches(self, value: Any, target: Any) -> bool:
        try:
            wanted = _number(target)
        except (ValueError, TypeError) as error:
            raise TypeError(f"the field {self.field!r}: {error}") from None
        answer = _number(value)
        return math.isclose(answer, wanted, rel_tol=0.0, abs_tol=max(self.absolute, self.relative * abs(wanted)))


def _number(value: Any) -> float:
    """Raises ValueError for a text that is no finite number, TypeError for what can be none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"numeric compares numbers, not a {type(value).__name__}: add a parser such as last_number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{str(value)[:40]!r} is not a finite number")
    return number
