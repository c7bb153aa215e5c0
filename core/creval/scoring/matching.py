"""Scorers that compare the parsed answer with a field of the doc."""

from __future__ import annotations

import re
import string
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

from creval.lazy_pattern import lazy_pattern
from creval.numerals import decimal_of, number_text, numerals, read_numeral, same_number
from creval.types.components import Context, Score, ScorerInput

__all__ = ["ExactMatch", "Includes", "Numeric", "squad_text"]

_PRECISION = 1000
_JOINERS = "\u200c\u200d"
_NOT_NEGATIVE = r"(?<!^[-−])(?<![\s(\[{=:$\"'*][-−])"
_BETWEEN_GROUPS = lazy_pattern(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_INSIDE_NUMBER = lazy_pattern(r"(?<=\d)[.,:/'’-](?=\d)|(?<!\w)[-−](?=[\d.])|(?<![\w.])\.(?=\d)")


@dataclass(frozen=True)
class _Matching(ABC):
    """Base class: looks up the doc's targets (one, or a list of alternatives) and scores the share of right answers.

    Every answer of the sample is compared. `reduce` combines several answers (`n: 3`): their `mean`; the `best` (1 if
    one is right: best-of-n); or the `majority`, for which only the most frequent answer counts (self-consistency, Wang
    et al. 2023, arXiv:2203.11171; of equally frequent ones the first). For the mean, one answer that cannot be read or
    compared fails the sample; the other two ignore it.
    `matches` raises ValueError if the answer cannot be read (the sample is unparsed), TypeError if the task is at fault
    (errored). A doc without the field is a fault of the task too, not a wrong answer.
    """

    field: str = "target"
    reduce: str = "mean"

    name = "match"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def _score(self, item: ScorerInput) -> Score:
        if self.field not in item.doc:
            known = ", ".join(item.doc)
            return Score({}, failure=f"the doc has no field {self.field!r}; it has {known}", errored=True)
        target = item.doc[self.field]
        targets = target if isinstance(target, list) else [target]
        if not item.values:
            return Score({}, failure=f"the protocol returned no answer that {self.name} can compare", errored=True)
        try:
            return Score({self.name: self._reduced(item.values, targets)})
        except ValueError as error:
            return Score({}, failure=str(error))
        except TypeError as error:
            return Score({}, failure=str(error), errored=True)

    def _reduced(self, values: Sequence[Any], targets: Sequence[Any]) -> float:
        """Return the score of all answers. Raises ValueError if none can be compared, else as `matches` does."""
        if self.reduce == "mean":
            right = [any(self.matches(value, target) for target in targets) for value in values]
            return sum(right) / len(right)
        if not targets:
            return 0.0
        answers = [value for value in values if self._comparable(value, targets)]
        if not answers:
            raise ValueError("none of the answers can be compared")
        if self.reduce == "majority":
            answers = [_most_common(answers, self.matches)]
        return float(any(self.matches(value, target) for value in answers for target in targets))

    def _comparable(self, value: Any, targets: Sequence[Any]) -> bool:
        try:
            self.matches(value, targets[0])
        except ValueError:
            return False
        return True

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored (it lacks the field, or the field has nothing to compare with), or None."""
        if self.field not in fields:
            return f"it has no field {self.field!r}; it has {', '.join(fields)}"
        target = fields[self.field]
        if target == []:
            return f"its {self.field!r} is an empty list, so that no answer is right"
        for target_value in target if isinstance(target, list) else [target]:
            try:
                self.matches(target_value, target_value)
            except (ValueError, TypeError) as error:
                return f"its {self.field!r} is {str(target_value)[:60]!r}: {error}"
        return None

    @abstractmethod
    def matches(self, value: Any, target: Any) -> bool:
        """Return whether an answer is a target."""


def _most_common(values: Sequence[Any], same: Callable[[Any, Any], bool]) -> Any:
    """Return the most frequent value, counting equivalent spellings together; of equally frequent ones the first."""
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
    """Comparison of texts. An empty target is a fault unless `empty` is true, also one empty without punctuation.

    With `normalize: squad` texts are compared as in SQuAD (`squad_text`); a target such as "a" then becomes empty,
    which is allowed.
    """

    ignore_case: bool = False
    ignore_punctuation: bool = False
    empty: bool = False
    normalize: str = "none"

    def _normalized(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(f"{self.name} compares texts and numbers, not {_called(value)}")
        text = unicodedata.normalize("NFC", value if isinstance(value, str) else number_text(value))
        if not text.isascii():
            text = "".join(c for c in text if c in _JOINERS or unicodedata.category(c) != "Cf")  # as in answers
        if self.normalize == "squad":
            return squad_text(text)
        if self.ignore_punctuation:
            text = _without_punctuation(text)
        return " ".join((text.casefold() if self.ignore_case else text).split())

    def _answer_text(self, value: Any) -> str:
        """Return the plain form of an answer. Raises ValueError for a list, which a model's JSON may contain."""
        try:
            return self._normalized(value)
        except TypeError as error:
            raise ValueError(str(error)) from None

    def _target_text(self, target: Any) -> str:
        """Return the plain form of a target. Raises TypeError if it is empty and may not be."""
        normalized = self._normalized(target)
        if not normalized and not self.empty and not (self.normalize == "squad" and str(target).strip()):
            ignored = " once punctuation is ignored" if self.ignore_punctuation and str(target).strip() else ""
            raise TypeError(f"the target is empty{ignored}; state `empty: true` for {self.name} if that is intended")
        return normalized


@dataclass(frozen=True)
class ExactMatch(_TextMatching):
    """Score `exact_match`: 1 if the answer is the target, else 0.

    White space at the ends of a text is ignored, and runs of it inside count as one space; `ignore_case` and
    `ignore_punctuation` ignore letter case and punctuation too. If the answer or the target is a number, both are
    compared as decimals, without a tolerance.
    """

    name = "exact_match"

    def matches(self, value: Any, target: Any) -> bool:
        wanted, text = self._target_text(target), self._answer_text(value)
        if self.ignore_punctuation or not (isinstance(value, str) and isinstance(target, str)):
            numbers = _as_number(value), _as_number(target)
            if numbers[0] is not None and numbers[1] is not None:
                return same_number(numbers[0], numbers[1])
        return text == wanted


@dataclass(frozen=True)
class Includes(_TextMatching):
    """Score `includes`: 1 if the target occurs in the answer, else 0. Options as in `exact_match`.

    A number does not occur in a longer one: `5` is not in `15`, `0.5` or `-5`. With `empty: true` an empty target only
    occurs in an empty answer.
    """

    name = "includes"

    def matches(self, value: Any, target: Any) -> bool:
        wanted, text = self._target_text(target), self._answer_text(value)
        if not wanted:
            return not text
        if not isinstance(target, str) and any(same_number(each.value, target) for each in numerals(str(value))):
            return True
        left = r"(?<![0-9])(?<![0-9][.,])(?<![.])" + _NOT_NEGATIVE if wanted[0].isdecimal() else ""
        right = r"(?![0-9]|[.,][0-9])" if wanted[-1].isdecimal() else ""
        return re.search(left + re.escape(wanted) + right, text) is not None


@dataclass(frozen=True)
class Numeric(_Matching):
    """Score `numeric`: 1 if |answer - target| <= max(`absolute`, `relative` * |target|), else 0.

    Without a tolerance (the default) both must be the same decimal. A unit next to a number is ignored.
    """

    absolute: float = 0.0
    relative: float = 0.0

    name = "numeric"

    def matches(self, value: Any, target: Any) -> bool:
        try:
            wanted = _number(target)
        except (ValueError, TypeError) as error:
            raise TypeError(f"the field {self.field!r}: {error}") from None
        try:
            answer = _number(value)
        except TypeError as error:
            raise ValueError(str(error)) from None
        if same_number(answer, wanted):
            return True
        with localcontext(prec=_PRECISION):
            one, other = decimal_of(answer), decimal_of(wanted)
            allowed = max(decimal_of(self.absolute), decimal_of(self.relative) * abs(other))
            return abs(one - other) <= allowed


def squad_text(text: str) -> str:
    """Return a text normalized as in SQuAD's evaluation: lower case, without ASCII punctuation and a, an, the."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def _number(value: Any) -> int | float | Decimal:
    """Return a number. Raises ValueError for a text that is not a finite number, TypeError for other types."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"numeric compares numbers, not {_called(value)}")
    if isinstance(value, str):
        return read_numeral(value).value
    decimal_of(value)
    return value


def _called(value: Any) -> str:
    """Name the type of a value that cannot be compared, and what to do."""
    if isinstance(value, bool):
        word = str(value).lower()
        return f'a bool: write the target as the text "{word}", parse with choice: ["true", "false"]'
    return f"a {type(value).__name__}: add a parser"


def _as_number(value: str | float) -> int | float | Decimal | None:
    """Return a number, or the number that a whole text without a unit states; None if there is none."""
    try:
        if isinstance(value, str):
            numeral = read_numeral(value)
            return None if numeral.unit else numeral.value
        decimal_of(value)
    except ValueError:
        return None
    return value


def _without_punctuation(text: str) -> str:
    """Return a text without punctuation; signs inside a number stay, except separators of groups of three."""
    text = _BETWEEN_GROUPS.sub("", text)
    kept = {match.start() for match in _INSIDE_NUMBER.finditer(text)}
    return "".join(c for at, c in enumerate(text) if at in kept or not unicodedata.category(c).startswith("P"))
