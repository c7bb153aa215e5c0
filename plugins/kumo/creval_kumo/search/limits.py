"""Limits of a search, and the interface of the search engines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from creval.plugin import ScoringError

__all__ = ["PYTHON_NODES", "Answer", "Budget", "Engine", "Limits", "NotProvenError", "OutOfBudget"]

PYTHON_NODES = 2_000_000
"""Default limit of nodes per query in plain Python, if the compiled kernel is not available."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one query to the search; None means no limit.

    `nodes` counts states opened and bounds computed (about 4 microseconds each in the kernel, 50 in Python, for which
    the default is therefore PYTHON_NODES). The bounds of one state may exceed it. Only this limit gives the same answer
    on every machine.
    `seconds` is wall time, checked between slices of work; a fifth of it is for computing the bounds at its end.
    `memory` (bytes) limits the tables of one search, whose layout is the same on every machine.
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
    """Raised inside an engine when a limit is reached; never visible to callers of the library."""


class NotProvenError(ScoringError):
    """A limit was reached before the value was proven; `lower` and `upper` bound it (in test actions)."""

    def __init__(self, lower: float, upper: float, nodes: int) -> None:
        super().__init__(
            f"optimal play is not proven after {nodes} states: E[S] is between {lower:.6f} and {upper:.6f}",
            fix="Install numba: pip install numba. If it is installed, choose smaller games.",
        )
        self.lower = lower
        self.upper = upper
        self.nodes = nodes


@dataclass
class Budget:
    """The spent part of the limits."""

    limits: Limits
    nodes: int = 0
    started: float = field(default_factory=time.monotonic)

    def spend(self, nodes: int) -> None:
        """Count nodes about to be opened. Raises OutOfBudget, and counts nothing, if a limit is reached."""
        self.check()
        self.nodes += nodes

    def check(self) -> None:
        """Raise OutOfBudget when a limit is reached."""
        if self.limits.nodes is not None and self.nodes >= self.limits.nodes:
            raise OutOfBudget
        if self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            raise OutOfBudget

    def check_memory(self, size: int) -> None:
        """Raise OutOfBudget if tables of `size` bytes exceed the limit."""
        if self.limits.memory is not None and size > self.limits.memory:
            raise OutOfBudget

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock inside the context."""
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
    """`value` is E[S] if `exact`, otherwise a lower bound of it that is not below the given bound."""

    value: float
    exact: bool


class Engine(Protocol):
    """A search that keeps its memo between queries."""

    name: str

    def below(self, truths: int, actions: int, bound: float, budget: Budget, only: int = -1) -> Answer:
        """Return the value of a state that is not a base case, if it is below `bound`.

        With `only`, the value of taking that action first. Raises OutOfBudget; the memo stays valid.
        """
        ...
