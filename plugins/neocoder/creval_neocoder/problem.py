"""A problem with its states, tests and human solutions, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from creval_neocoder.techniques.creativity import union_of

__all__ = ["BLOCK", "STATES", "Case", "Problem", "constrained"]

STATES = range(6)
"""The states of the paper: the number of forbidden techniques."""

BLOCK = "Programming constraints: DO NOT use the following techniques"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: its input lines (without a leading count), and the expected output.

    `output` is one text or, in a few published problems, a list of lines.
    """

    lines: tuple[str, ...]
    output: str | tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Return the expected output as words."""
        text = self.output if isinstance(self.output, str) else "\n".join(self.output)
        return tuple(text.split())


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `constraints[t]` are the techniques forbidden in state t, in the order in which they were added.

    `counted`: whether its input begins with the number of cases. `published` contains the authors' statements of the
    states, `codes` GPT-4's programs from the construction of the data set (both empty for our own problems).
    `solutions` are human programs, `techniques` the techniques of each. `changed` are cases whose inputs resemble
    those of `cases`, and on whose answers the human solutions agree.
    """

    name: str
    statement: str
    constraints: tuple[tuple[str, ...], ...]
    cases: tuple[Case, ...]
    counted: bool = True
    published: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    techniques: tuple[tuple[str, ...], ...] = ()
    changed: tuple[Case, ...] = ()

    @property
    def human(self) -> frozenset[str]:
        """Return all techniques of the human solutions (T-hat, Eq. 3)."""
        return union_of(self.techniques)

    def text(self, state: int) -> str:
        """Return the statement of a state, with its constraints from the second line on, newest first."""
        return constrained(self.statement, self.constraints[state])


def constrained(statement: str, constraints: Sequence[str]) -> str:
    """Return a statement with a block of constraints after its title; without constraints it is unchanged."""
    if not constraints:
        return statement
    title, _, rest = statement.partition("\n")
    return "\n".join([title, BLOCK, *(f"- {name}" for name in reversed(constraints)), rest])
