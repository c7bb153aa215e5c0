"""The interface of executors, which make the samples of a run, and of the context that the run gives them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from creval.types.sample import Condition, Doc, Sample, SampleKey, ScoreRecord

__all__ = ["ExecutionContext", "Executor", "ItemResult", "ScoreSink", "WorkItem"]


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One sample to make."""

    key: SampleKey
    doc: Doc
    condition: Condition
    repeat: int


class ItemResult(NamedTuple):
    """A finished sample, and the error that ended it, if one did: a `CrevalError`."""

    sample: Sample
    error: Exception | None


ScoreSink = Callable[[Sequence[ScoreRecord]], None]
"""Receives scores as soon as they exist; when it returns, they are in their file."""


class ExecutionContext(Protocol):
    """What a run gives its executor: functions that do the work in this process."""

    @property
    def concurrency(self) -> int:
        """The most samples that run at once (`--concurrency`)."""

    def make(self, item: WorkItem) -> Awaitable[ItemResult]:
        """Make a sample in this process."""

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples of a task in this process. Raises BudgetError once the samples in flight are finished."""


class Executor(Protocol):
    """Makes the samples of a run. A component of kind `executor` is a factory: `(address, options) -> Executor`.

    `address` is what follows the name (`ray://HOST:PORT`; None if nothing does), `options` are those of
    `--executor-option`. The engine does the rest: it decides which samples there are and when too many have failed,
    writes the files and the ledger, and orders the steps. Each sample has its own seeds, so results do not depend on
    which worker made it.
    """

    @property
    def remote(self) -> bool:
        """Whether samples are made in other processes; resources are then opened there, not in this one."""

    @property
    def batch(self) -> int:
        """The most samples that are scored in one batch (the local executor: 256)."""

    async def open(self, context: ExecutionContext) -> None:
        """Start up. Raises UsageError or MissingPartError if something that every sample needs is missing."""

    def make(self, item: WorkItem) -> Awaitable[ItemResult]:
        """Make one sample; at most `concurrency` calls run at once.

        Raises BudgetError, UsageError and RunError, which end the run; any other failure is the sample's status.
        A sample whose worker is lost is made by another one.
        """

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples batch by batch and hand over the scores as they come.

        Raises as `make` does; BudgetError once the batches in flight are finished.
        """

    async def close(self) -> None:
        """Release everything; called once, however the run ended."""
