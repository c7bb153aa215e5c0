"""The symbolic configuration of a domain: truths, actions, and what each outcome rules out.

Source: paper 002, "KUMO benchmark" (truth set T, action set A, outcomes O) and Methods, "Automatic domain
proposal and seed configs generation" (universal sets and the symbolic knowledge book).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

__all__ = ["Action", "Domain", "Interval", "Noun", "Outcome", "OutcomeType", "State", "Truth"]

OutcomeType = Literal["str", "float"]


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A closed interval of numbers, `lo` < `hi`."""

    lo: float
    hi: float

    def __contains__(self, value: float) -> bool:
        return self.lo <= value <= self.hi

    def __str__(self) -> str:
        return f"{number_text(self.lo)} to {number_text(self.hi)}"


State = str | Interval
"""What an outcome shows: a label, or an interval in which the measured number lies."""


def number_text(value: float) -> str:
    """Format a number: whole numbers without a decimal point, others as the shortest exact decimal."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


@dataclass(frozen=True, slots=True)
class Noun:
    """The domain's word for its truths or its actions, e.g. `disease` and `diseases`."""

    singular: str
    plural: str


@dataclass(frozen=True, slots=True)
class Truth:
    """One possible answer; `about` is its description for the knowledge book."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result that an action can show, and the truths that it rules out."""

    state: State
    rules_out: frozenset[str]


@dataclass(frozen=True, slots=True)
class Action:
    """One test that the player may take. `unit` is set only for `float` and may be empty."""

    name: str
    type: OutcomeType
    outcomes: tuple[Outcome, ...]
    about: str = ""
    unit: str = ""

    @property
    def related(self) -> frozenset[str]:
        """The truths that at least one outcome of this action rules out."""
        return frozenset().union(*(outcome.rules_out for outcome in self.outcomes))


@dataclass(frozen=True)
class Domain:
    """A whole domain. Truths and actions keep the order of the file; sampling sorts them by name."""

    name: str
    title: str
    goal: str
    truth_noun: Noun
    action_noun: Noun
    truths: tuple[Truth, ...]
    actions: tuple[Action, ...]

    @cached_property
    def truth_by_name(self) -> dict[str, Truth]:
        """Truths by name."""
        return {truth.name: truth for truth in self.truths}

    @cached_property
    def action_by_name(self) -> dict[str, Action]:
        """Actions by name."""
        return {action.name: action for action in self.actions}
