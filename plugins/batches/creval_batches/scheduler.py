"""The batches of a run: their journal, when each is sent, and how the run detaches."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from creval.plugin import CrevalError, RunError
from creval.plugin.batches import BatchCounts, DetachedError, ModelSpec, Price
from creval.plugin.models import Provider
from creval_batches.journal import BatchJournal, JournalFile
from creval_batches.polling import Polling

if TYPE_CHECKING:
    from creval_batches.batch_provider import BatchProvider

__all__ = ["BatchScheduler"]


class Queue(Protocol):
    """What buffers the requests of one model."""

    def send(self) -> bool:
        """Send the buffered requests; return whether there were any."""

    def at_work(self) -> bool:
        """Whether something is being sent or collected, so that new requests may follow soon."""

    def fail_waiting(self, error: CrevalError) -> None:
        """Raise an error for every waiting call."""

    def __len__(self) -> int:
        """How many calls wait."""


class BatchScheduler:
    """The batches of a run over all its models. Use from one event loop.

    A batch is sent when it is full (`most`: its most requests), or when no further request is expected: none has come
    for `Polling.quiet`, no answers are being delivered, and no other call of the run is in flight (`others_in_flight`).
    With `detach` the run then stops, once all batches are sent and none has ended: every waiting call raises
    DetachedError.
    """

    def __init__(self, detach: bool = False, most: int | None = None, polling: Polling | None = None) -> None:
        polling = polling or Polling()
        self.polling = polling if most is None else replace(polling, requests=min(most, polling.requests))
        self.detach = detach
        self.journal = BatchJournal()
        self.others_in_flight: Callable[[], bool] = lambda: False
        self.resume_command = "creval resume RUN"  # the command that collects
        self.watch: Callable[[BatchCounts], None] | None = None
        self._queues: list[Queue] = []
        self._out: dict[str, tuple[int, int]] = {}
        self._last_activity = 0.0
        self._busy = 0
        self._loop_task: asyncio.Task[None] | None = None

    @staticmethod
    def name() -> str:
        """Return a unique name for a batch."""
        return f"creval-{secrets.token_hex(12)}"

    @property
    def counts(self) -> BatchCounts:
        """Return the pending batches and requests."""
        requests, done = (sum(each[i] for each in self._out.values()) for i in range(2))
        return BatchCounts(len(self._out), requests, done)

    @property
    def spent(self) -> tuple[float, int]:
        """Return the US dollars and answers in the journal when it was opened."""
        return self.journal.cost, self.journal.calls

    def wrap(self, provider: Provider, name: ModelSpec, price: Price | None) -> BatchProvider:
        """Return a provider that sends the calls of an open one in batches. Raises UsageError if it cannot."""
        from creval_batches.batch_provider import BatchProvider
        from creval_batches.open_api import open_api

        return BatchProvider(open_api(provider, name.text), name, price, self)

    def open_journal(self, path: Path) -> None:
        """Read the run's journal and record everything further there. Raises RunError if a line is no note."""
        try:
            self.journal.open(JournalFile(path))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"a line is not a record of a batch ({error!r})"
            raise RunError(what, where=str(path), fix="Put the file back as it was.") from error

    def drop_answers(self) -> None:
        """Remove the answers from the journal: every sample and call holds its own."""
        if self.journal.store is not None:
            self.journal.store.drop_answers()

    def join(self, queue: Queue) -> None:
        """Schedule the batches of one more model."""
        self._queues.append(queue)

    def touch(self) -> None:
        """Record that a request has come or an answer was delivered."""
        loop = asyncio.get_running_loop()
        self._last_activity = loop.time()
        if self._loop_task is None or self._loop_task.done():
            self._loop_task = loop.create_task(self._send_when_quiet())

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Send no batch while answers are delivered: new requests may follow."""
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self.touch()

    def update(self, name: str, requests: int, done: int) -> None:
        """Record the progress of a batch."""
        if self._out.get(name) != (requests, done):
            self._out[name] = (requests, done)
            self._notify()

    def finished(self, name: str) -> None:
        """Record that a batch is no longer pending."""
        if self._out.pop(name, None) is not None:
            self._notify()

    def fail_waiting(self, error: CrevalError) -> None:
        """Raise an error for every waiting call; the batches stay at the provider."""
        for queue in self._queues:
            queue.fail_waiting(error)

    async def close(self) -> None:
        """Stop, and bring the journal to disk."""
        if self._loop_task is not None:
            self._loop_task.cancel()
            await asyncio.gather(self._loop_task, return_exceptions=True)
        self.journal.close()

    def _notify(self) -> None:
        if self.watch is not None:
            self.watch(self.counts)

    async def _send_when_quiet(self) -> None:
        """Send buffered requests when there is no other activity; an error ends every wait."""
        try:
            await self._loop()
        except CrevalError as error:
            self.fail_waiting(error)
        except Exception as error:
            fault = RunError(
                f"a batch cannot be sent: {type(error).__name__}: {error}", fix=f"Later: {self.resume_command}"
            )
            fault.__cause__ = error
            self.fail_waiting(fault)

    async def _loop(self) -> None:
        loop = asyncio.get_running_loop()
        while any(len(queue) for queue in self._queues):
            left = self._last_activity + self.polling.quiet - loop.time()
            if left > 0:
                await asyncio.sleep(left)
            elif self._busy or self.others_in_flight():
                await asyncio.sleep(self.polling.quiet)
            elif sum(queue.send() for queue in self._queues):
                self._last_activity = loop.time()
            elif not self.detach:
                return  # the next answer starts this again
            elif any(queue.at_work() for queue in self._queues):
                await asyncio.sleep(self.polling.quiet)
            else:
                self.fail_waiting(self._detached())
                return

    def _detached(self) -> DetachedError:
        counts = self.counts
        batches = "1 batch" if counts.batches == 1 else f"{counts.batches} batches"
        what = f"{counts.requests:,} requests are pending in {batches}"
        return DetachedError(what, fix=f"Collect them with: {self.resume_command}")
