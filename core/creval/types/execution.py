"""Who carries out the samples of a run, and what the run lends them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from creval.types.sample import Condition, Doc, Sample, SampleKey, ScoreRecord

__all__ = ["Executor", "Foreman", "Link", "Made", "ScoreSink", "Work", "Workshop"]


@dataclass(frozen=True, slots=True)
class Work:
    """One sample to make."""

    key: SampleKey
    doc: Doc
    condition: Condition
    repeat: int


class Made(NamedTuple):
    """A finished sample, and the error that ended it, if one did: a `CrevalError`."""

    sample: Sample
    error: Exception | None


ScoreSink = Callable[[Sequence[ScoreRecord]], None]
"""Takes scores the moment they are there; when it returns they are in their file."""


class Foreman(Protocol):
    """What a run lends its executor: the means to do the work in this process, and all that workers elsewhere need.

    Whatever crosses to another process is plain data: `None`, bool, numbers, texts, bytes, lists and mappings.
    """

    @property
    def concurrency(self) -> int:
        """At most so many samples are asked for at once (`--concurrency`)."""

    @property
    def brief(self) -> Mapping[str, Any]:
        """What a worker opens the run's parts by (`creval.plugin.open_workshop`). It holds no secrets."""

    @property
    def private(self) -> Mapping[str, Any]:
        """What a worker needs beside the brief and what may be a secret (an address): never to be logged or stored."""

    @property
    def needs(self) -> Mapping[str, Mapping[str, int]]:
        """What the parts of each task need of the machine they work on, by task: `{"drat": {"gpu": 1}}`."""

    def make(self, work: Work) -> Awaitable[Made]:
        """Make a sample in this process."""

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples of a task in this process. Raises BudgetError when those in flight have come to their end."""

    def crossing(self, samples: Sequence[Sample]) -> Sequence[Mapping[str, Any]]:
        """Return saved samples as `Workshop.score` takes them."""

    def made(self, told: Mapping[str, Any]) -> Made:
        """Return what `Workshop.make` told. Raises what ended the sample and the run with it (BudgetError, ...)."""

    def scored(self, told: Mapping[str, Any], scored: ScoreSink) -> None:
        """Hand over the scores that `Workshop.score` told. Raises what ended the scoring (BudgetError, UsageError)."""

    async def answer(self, worker: str, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer what a workshop asks: a place at a provider, money of the budget, the answer of another role."""

    def hear(self, worker: str, note: Mapping[str, Any]) -> None:
        """Take a note of a workshop, which wants no answer: a place is free again, so much was spent."""

    def opened(self, worker: str, told: Mapping[str, Any]) -> None:
        """Take what `Workshop.told` says: the instruments that are open there, and what its models have done.

        Raises what kept the workshop from opening, and UsageError where its instruments are not those of the others.
        """

    def lost(self, worker: str) -> None:
        """Take back what a worker that is gone held: its places at providers, and what was set aside for its calls."""


class Link(Protocol):
    """The way from a workshop to its foreman, as the executor has it. Nothing that goes over it may be logged."""

    async def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what `Foreman.answer` says."""

    def tell(self, note: Mapping[str, Any]) -> None:
        """Let `Foreman.hear` know, after all that was asked and told before."""


class Workshop(Protocol):
    """A run's parts open in another process; see `open_workshop`. Use it from one event loop."""

    async def make(self, key: Sequence[Any]) -> Mapping[str, Any]:
        """Make the sample of a key (task, doc, condition, repeat), and tell what came of it."""

    async def score(self, task: str, samples: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Score samples, and tell their scores."""

    def told(self) -> Mapping[str, Any]:
        """Tell which instruments are open here, and what the models have done so far."""

    async def close(self) -> None:
        """Close models and resources."""


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

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score samples batch by batch and hand the scores over as they come.

        Raises as `make` does, BudgetError when what is in flight has come to its end.
        """

    async def close(self) -> None:
        """Let go of everything; called once, however the run ended."""
