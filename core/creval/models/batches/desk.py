"""What all batches of a run share: its book, the moment at which a batch is closed, and the end of the run."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple, Protocol

from creval.errors import CrevalError, DetachedError, RunError
from creval.models.batches.book import Book
from creval.models.batches.pace import Pace

__all__ = ["BatchCounts", "Batching", "Gatherer"]


class BatchCounts(NamedTuple):
    """Batches on their way, the requests in them, and how many of these are done, by the provider's last word."""

    batches: int
    requests: int
    done: int


class Gatherer(Protocol):
    """What gathers the requests of one model."""

    def send(self) -> bool:
        """Send what is gathered; returns whether there was anything."""

    def at_work(self) -> bool:
        """Whether something is being sent or brought home, so that more may come of it at once."""

    def let_go(self, error: CrevalError) -> None:
        """Hand an error out to all that wait."""

    def __len__(self) -> int:
        """How many wait."""


class Batching:
    """The batches of a run over all its models. Use from one event loop.

    A batch goes out when it is full (`most`: with so many requests at most), or when nothing moves any more: no new
    request has come for `Pace.quiet`, no answers are being handed out, and no other call of the run is in flight
    (`moving` says so). With `detach` the run is left at that moment, once all has gone out and nothing has come back:
    everyone who waits gets a DetachedError.
    """

    def __init__(self, pace: Pace | None = None, detach: bool = False, most: int | None = None) -> None:
        pace = pace or Pace()
        self.pace = pace if most is None else replace(pace, requests=min(most, pace.requests))
        self.detach = detach
        self.book = Book()
        self.moving: Callable[[], bool] = lambda: False
        self.goes_on = "creval resume RUN"  # the command that collects
        self.watch: Callable[[BatchCounts], None] | None = None
        self._gatherers: list[Gatherer] = []
        self._out: dict[str, tuple[int, int]] = {}
        self._stirred = 0.0
        self._busy = 0
        self._attending: asyncio.Task[None] | None = None

    @staticmethod
    def name() -> str:
        """A name for a batch, like no other."""
        return f"creval-{secrets.token_hex(12)}"

    @property
    def counts(self) -> BatchCounts:
        """What is on its way now."""
        requests, done = (sum(each[i] for each in self._out.values()) for i in range(2))
        return BatchCounts(len(self._out), requests, done)

    def join(self, gatherer: Gatherer) -> None:
        """Let the batches of one more model go out."""
        self._gatherers.append(gatherer)

    def stir(self) -> None:
        """Something has moved: a request has come, or an answer has gone out."""
        loop = asyncio.get_running_loop()
        self._stirred = loop.time()
        if self._attending is None or self._attending.done():
            self._attending = loop.create_task(self._attend())

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let no batch go out while answers are handed out: who gets one may ask on."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self.stir()

    def tell(self, name: str, requests: int, done: int) -> None:
        """Take note of how a batch is getting on."""
        if self._out.get(name) != (requests, done):
            self._out[name] = (requests, done)
            self._told()

    def home(self, name: str) -> None:
        """A batch is no longer on its way."""
        if self._out.pop(name, None) is not None:
            self._told()

    def let_go(self, error: CrevalError) -> None:
        """End the waiting of everyone; the batches stay where they are."""
        for gatherer in self._gatherers:
            gatherer.let_go(error)

    async def close(self) -> None:
        """End the attendance and bring the book to disk."""
        if self._attending is not None:
            self._attending.cancel()
            await asyncio.gather(self._attending, return_exceptions=True)
        self.book.close()

    def _told(self) -> None:
        if self.watch is not None:
            self.watch(self.counts)

    async def _attend(self) -> None:
        """Send what is gathered at its moment; what goes wrong on the way is everyone's error, not an endless wait."""
        try:
            await self._attended()
        except CrevalError as error:
            self.let_go(error)
        except Exception as error:
            fault = RunError(f"a batch cannot be sent: {type(error).__name__}: {error}", cure=f"Later: {self.goes_on}")
            fault.__cause__ = error
            self.let_go(fault)

    async def _attended(self) -> None:
        loop = asyncio.get_running_loop()
        while any(len(gatherer) for gatherer in self._gatherers):
            left = self._stirred + self.pace.quiet - loop.time()
            if left > 0:
                await asyncio.sleep(left)
            elif self._busy or self.moving():
                await asyncio.sleep(self.pace.quiet)
            elif sum(gatherer.send() for gatherer in self._gatherers):
                self._stirred = loop.time()
            elif not self.detach:
                return  # the next answer stirs again
            elif any(gatherer.at_work() for gatherer in self._gatherers):
                await asyncio.sleep(self.pace.quiet)
            else:
                self.let_go(self._detached())
                return

    def _detached(self) -> DetachedError:
        counts = self.counts
        batches = "1 batch" if counts.batches == 1 else f"{counts.batches} batches"
        what = f"{counts.requests:,} requests are on their way in {batches}"
        return DetachedError(what, cure=f"Collect them with: {self.goes_on}")
