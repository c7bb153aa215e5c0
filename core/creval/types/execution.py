"""Who carries out the samples of a run, and what the run lends them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from creval.errors import CrevalError
from creval.types.sample import Condition, Doc, Sample, SampleKey, SampleScore

__all__ = ["Executor", "Foreman", "Made", "Scored", "Work"]


@dataclass(frozen=True, slots=True)
class Work:
    """One sample to make."""

    key: SampleKey
    doc: Doc
    condition: Condition
    repeat: int


class Made(NamedTuple):
    """A finished sample, and the error that ended it, if one did."""

    sample: Sample
    error: CrevalError | None


Scored = Callable[[Sequence[SampleScore]], None]
"""Takes scores the moment they are there; when it returns they are in their file."""


class Foreman(Protocol):
    """What a run lends its executor: the means to do the work in this process."""

    @property
    def concurrency(self) -> int:
        """At most so many samples are asked for at once (`--concurrency`)."""

    def make(self, work: Work) -> Awaitable[Made]:
        """Make a sample in this process."""

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: Scored) -> None:
        """Score samples of a task in this process. Raises BudgetError when those in flight have come to their end."""


class Executor(Protocol):
    """Carries out the samples of a run. A component of kind `executor` is a factory: `(address, options) -> Executor`.

    `address` is what follows the name (`ray://HOST:PORT`; None where nothing does), `options` what the user gave with
    `--executor-option`. The engine keeps the rest: which samples there are and when enough of them failed, the files,
    the ledger, the order of the steps. Seeds are each sample's own, so that results do not depend on who made it.
    """

    @property
    def elsewhere(self) -> bool:
        """Whether samples are made in other processes: then resources are opened there and not in this one."""

    @property
    def batch(self) -> int:
        """At most so many samples are scored in one batch (the local loop: 256)."""

    async def open(self, foreman: Foreman) -> None:
        """Make ready. Raises UsageError and MissingPartError where something that every sample needs is missing."""

    def make(self, work: Work) -> Awaitable[Made]:
        """Make one sample; asked for so many at once as the run's `concurrency` allows.

        Raises BudgetError, UsageError and RunError, which end the run; whatever else befalls a sample is its status.
        A sample whose worker is lost is made by another one.
        """

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: Scored) -> None:
        """Score samples batch by batch and hand the scores over as they come.

        Raises as `make` does, BudgetError when what is in flight has come to its end.
        """

    async def close(self) -> None:
        """Let go of everything; called once, however the run ended."""
