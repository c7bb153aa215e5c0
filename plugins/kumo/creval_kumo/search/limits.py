"""Limits of a search and what it answers when asked for a value below a bound."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from creval.plugin import ScoringError

__all__ = ["PYTHON_NODES", "Answer", "Budget", "Engine", "Limits", "NotProvenError", "OutOfBudget"]

PYTHON_NODES = 2_000_000
"""What plain Python may spend on a question by default, where the compiled kernel is not to be had."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one question to the search may cost; None is no limit.

    `nodes` counts states opened and bounds worked out (some 4 microseconds each in the kernel, 50 in Python, which
    therefore gets PYTHON_NODES unless stated otherwise). It may be overrun by the bounds of one state. Only this
    limit gives the same answer on every machine.
    `seconds` is wall time, looked at between slices of work; computing the bounds at its end takes a fifth of it.
    `memory` (bytes) is what the tables of one search may take; they are laid out alike on every machine.
    """

    nodes: int | None = 20_000_000
    seconds: float | None = None
    memory: int | None = 1_000_000_000

    def within(self, nodes: int | None, share: float = 1.0) -> Limits:
        """Return these limits with at most `nodes` nodes, and a share of the time."""
        fewer = [limit for limit in (self.nodes, nodes) if limit is not None]
        seconds = None if self.seconds is None else self.seconds * share
        return Limits(min(fewer, default=None), seconds, self.memory)


class OutOfBudget(Exception):
    """Raised inside an engine when a limit is reached; callers of the library never see it."""


class NotProvenError(ScoringError):
    """A limit was reached before the value was proven; `lower` and `upper` bound it (in test actions)."""

    def __init__(self, lower: float, upper: float, nodes: int) -> None:
        super().__init__(
            f"optimal play is not proven after {nodes} states: E[S] is between {lower:.6f} and {upper:.6f}",
            fix="Install numba: pip install numba. Where it is installed, choose smaller games.",
        )
        self.lower = lower
        self.upper = upper
        self.nodes = nodes


@dataclass
class Budget:
    """What was spent of the limits."""

    limits: Limits
    nodes: int = 0
    started: float = field(default_factory=time.monotonic)

    def spend(self, nodes: int) -> None:
        """Count nodes about to be opened; raises OutOfBudget, and counts nothing, where a limit is reached."""
        self.check()
        self.nodes += nodes

    def check(self) -> None:
        """Raise OutOfBudget when a limit is reached."""
        if self.limits.nodes is not None and self.nodes >= self.limits.nodes:
            raise OutOfBudget
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            raise OutOfBudget

    def check_memory(self, size: int) -> None:
        """Raise OutOfBudget if tables of so many bytes are more than may be."""
        if self.limits.memory is not None and size > self.limits.memory:
            raise OutOfBudget

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave what is done inside out of the time."""
        before = time.monotonic()
        try:
            yield
        finally:
            self.started += time.monotonic() - before

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.monotonic() - self.started


@dataclass(frozen=True, slots=True)
class Answer:
    """`value` is E[S] where `exact`, else a lower bound of it that is not below the bound asked for."""

    value: float
    exact: bool


class Engine(Protocol):
    """A search that keeps its memo from question to question."""

    name: str

    def below(self, truths: int, actions: int, bound: float, budget: Budget, only: int = -1) -> Answer:
        """The value of a state that is not a base case, if it is below `bound`.

        With `only` the value of taking that action first. Raises OutOfBudget; the memo stays valid.
        """
        ...
