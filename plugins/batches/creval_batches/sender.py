"""Sends one batch, polls it until it has ended, and collects its answers, whatever happens to it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

from creval.plugin import CrevalError, ModelError, RunError
from creval.plugin.models import RetryableModelError
from creval_batches.batch_api import BatchApi, BatchState, Fault
from creval_batches.collector import Collector
from creval_batches.pending import PendingRequests
from creval_batches.scheduler import BatchScheduler

__all__ = ["Batch", "BatchSender", "QueueFullError"]

T = TypeVar("T")
_QUEUE_FULL = re.compile(r"enqueued|token[_ ]limit", re.IGNORECASE)
_TOO_MANY = 429


class QueueFullError(Exception):
    """The provider takes no more tokens for now."""


@dataclass(slots=True)
class Batch:
    """A batch: creval's name for it, the keys in the order of its file, and its state at the provider.

    `lines` is its file, None if an earlier process sent it; `planned` (epoch seconds) is when.
    """

    name: str
    keys: Sequence[str]
    lines: BinaryIO | None = None
    planned: float = field(default_factory=time.time)
    file: str | None = None
    id: str | None = None


class BatchSender:
    """Sends and follows one batch.

    `run` ends when the batch has ended, or, if the run detaches, when it is sent. Raises QueueFullError if the provider
    takes no more tokens for now, ModelError if the batch cannot be sent, and RunError for what ends the run and loses
    nothing: a batch that was cancelled, or whose state or answers is not available.
    """

    def __init__(
        self, batch: Batch, api: BatchApi, pending: PendingRequests, scheduler: BatchScheduler, spec: str
    ) -> None:
        self.batch = batch
        self._api = api
        self._pending = pending
        self._scheduler = scheduler
        self._spec = spec
        self.made = False
        self.at_work = True
        self.collector: Collector | None = None

    async def run(self) -> None:
        """See the class."""
        state = await self._sent()
        if state is None:
            return
        self.made = True
        pause = self._scheduler.polling.first
        while not state.ended:
            self._report(state)
            self.at_work = False
            if self._scheduler.detach:
                self._scheduler.touch()
                return
            await asyncio.sleep(pause)
            pause = self._scheduler.polling.next(pause)
            state = await self._state()
        self.at_work = True
        with self._scheduler.busy():
            if state.status == "failed":
                self._rejected(state)
            else:
                await self._collect(state)
        self._scheduler.finished(self.batch.name)

    def _report(self, state: BatchState) -> None:
        _, completed, failed = state.counts or (0, 0, 0)
        self._scheduler.update(self.batch.name, len(self.batch.keys), completed + failed)

    async def _sent(self) -> BatchState | None:
        """Send the batch, or find the one that was sent; None if it was never created."""
        batch, journal = self.batch, self._scheduler.journal
        if batch.id is not None:
            return await self._state()
        if batch.lines is None:
            state = await self._find_batch()
            if state is None:
                journal.ended(batch.name, "never made")
                self._pending.again(batch.keys)
                return None
        else:
            journal.planned(batch.name, self._spec, batch.keys)
            try:
                batch.file = await self._uploaded(batch.lines)
                journal.uploaded(batch.name, batch.file)
                state = await self._created(batch.file)
            except (CrevalError, QueueFullError) as error:
                if batch.file is None or not isinstance(error, RunError):  # else it may be there, unheard of
                    journal.ended(batch.name, "never made")
                raise
        batch.id = state.id
        journal.made(batch.name, state.id)
        return state

    async def _uploaded(self, lines: BinaryIO) -> str:
        return await self._tried("sent", lambda: self._api.upload(lines, self.batch.name))

    async def _created(self, file: str) -> BatchState:
        """Create the batch. If the connection breaks, search for it before creating it again."""

        async def unheard(error: RetryableModelError) -> BatchState | None:
            if error.http_status == _TOO_MANY and _QUEUE_FULL.search(error.what):
                raise QueueFullError(error.what) from None
            return None if error.http_status == _TOO_MANY else await self._find_batch()

        return await self._tried("made", lambda: self._api.create(file, self.batch.name), unheard)

    async def _find_batch(self) -> BatchState | None:
        """Search for the batch at the provider, until it would certainly be listed."""
        batch, polling = self.batch, self._scheduler.polling
        pause, looked = polling.first, 0.0
        while True:
            state = await self._retried(lambda: self._api.find(batch.name, batch.file, batch.planned))
            if state is not None or looked >= polling.doubt or (batch.lines is None and _age(batch) >= polling.doubt):
                return state
            await asyncio.sleep(min(pause, polling.doubt))
            looked += min(pause, polling.doubt)
            pause = polling.next(pause)

    async def _state(self) -> BatchState:
        batch_id = self.batch.id
        assert batch_id is not None
        return await self._retried(lambda: self._api.state(batch_id))

    async def _retried(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask about what is paid already, more than once. Raises RunError: the run ends, and nothing is lost."""
        try:
            return await self._tried("looked at", ask)
        except ModelError as error:
            raise self._out_of_reach("looked at", error) from None

    async def _tried(
        self,
        what: str,
        ask: Callable[[], Awaitable[T]],
        otherwise: Callable[[RetryableModelError], Awaitable[T | None]] | None = None,
    ) -> T:
        """Try several times; `otherwise` may find the result after a fault. Raises RunError after the last try."""
        polling = self._scheduler.polling
        pause = polling.first
        for left in reversed(range(polling.tries)):
            try:
                return await ask()
            except RetryableModelError as error:
                found = await otherwise(error) if otherwise is not None else None
                if found is not None:
                    return found
                if not left:
                    raise self._out_of_reach(what, error) from None
                await asyncio.sleep(polling.wait(pause, error.retry_after))
                pause = polling.next(pause)
        raise AssertionError("unreachable")

    def _out_of_reach(self, what: str, error: ModelError) -> RunError:
        later = f"Nothing is lost; later: {self._scheduler.resume_command}"
        fix = f"{error.fix}\n{later}" if error.fix else later
        return RunError(f"the batch {self._which()} cannot be {what}: {error.what}", where=error.where, fix=fix)

    def _rejected(self, state: BatchState) -> None:
        """The provider refused the file: nothing of it was answered. Raises QueueFullError."""
        batch = self.batch
        self._scheduler.journal.ended(batch.name, state.status)
        full = next((each for each in state.faults if _QUEUE_FULL.search(f"{each.code} {each.message}")), None)
        if full is not None:
            raise QueueFullError(full.message)
        lines = {each.line: each for each in state.faults if each.line and each.line <= len(batch.keys)}
        whole = next((each for each in state.faults if each.line is None), None)
        if not lines:
            whole = whole or Fault("", "the provider did not say what is wrong with the batch", None)
        for number, key in enumerate(batch.keys, 1):
            fault = lines.get(number) or (None if lines else whole)
            if key not in self._pending:
                continue
            if fault is None:
                self._pending.again([key])
            else:
                self._pending.deliver(key, batch.name, _refusal(fault))

    async def _collect(self, state: BatchState) -> None:
        batch, pending = self.batch, self._pending
        collector = await self._collected(state)
        stopped = state.status == "cancelled" and batch.lines is not None and collector.good < len(batch.keys)
        if state.status == "cancelled":
            collector.only_good()
        for count, key in enumerate(batch.keys):
            if key in pending and key in collector:
                pending.deliver(key, batch.name, collector.take(key))
            elif key in pending and not stopped:
                pending.missed(key, batch.name, state.status)
            if count % 32 == 0:
                await asyncio.sleep(0)
        if len(collector):
            self.collector = collector  # whoever asks for these later in the run finds them there
        else:
            collector.close()
            self._scheduler.journal.ended(batch.name, state.status)
        if stopped:  # it was stopped; resuming the run asks the rest again
            raise RunError(
                f"the batch {self._which()} was cancelled at the provider; the answers up to then are kept",
                fix=f"Send the rest again with: {self._scheduler.resume_command}",
            )

    async def _collected(self, state: BatchState) -> Collector:
        """Fetch the files of answers, and again if they have fewer lines than the provider stated."""
        files = [file for file in (state.output, state.error) if file]
        keys, polling = frozenset(self.batch.keys), self._scheduler.polling
        promised = state.counts[1] if state.counts is not None else 0
        collector, pause = Collector(), polling.first
        for left in reversed(range(polling.tries)):
            await self._retried(lambda: collector.fetch(self._api, files, keys))
            if collector.good >= promised or len(collector) == len(keys):
                return collector
            if left:
                await asyncio.sleep(pause)
                pause = polling.next(pause)
        got = collector.good
        collector.close()
        what = f"of the batch {self._which()} {promised} answers are promised, and its files hold {got}"
        raise RunError(what, fix=f"Nothing is lost; later: {self._scheduler.resume_command}")

    def _which(self) -> str:
        return f"{self.batch.id} ({self.batch.name})" if self.batch.id else self.batch.name


def _refusal(fault: Fault) -> dict[str, object]:
    """Return the line of a batch's result for a request whose line in the file is faulty."""
    error = {"message": fault.message or fault.code, "code": fault.code or None}
    return {"response": {"status_code": 400, "body": {"error": error}}}


def _age(batch: Batch) -> float:
    return time.time() - batch.planned
