"""A provider whose calls wait until a batch is sent, and return when its answers arrive."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from tempfile import gettempdir
from typing import Literal

from creval.plugin import CrevalError, ModelError, Reply, RunError
from creval.plugin.batches import BOUGHT, OWED, ModelSpec, Price, cache_key, reply_from_json
from creval.plugin.models import GenerateRequest
from creval_batches.batch_api import BatchApi
from creval_batches.buffer import RequestBuffer
from creval_batches.collector import Collector
from creval_batches.journal import JournalEntry
from creval_batches.pending import AskAgain, PendingRequests
from creval_batches.scheduler import BatchScheduler
from creval_batches.sender import Batch, BatchSender, QueueFullError

__all__ = ["BatchProvider"]


class BatchProvider:
    """A `Provider` over `BatchApi`: one model, any number of pending batches.

    Requests of an earlier attempt of the run are not sent again: their answers come from the journal, or from the batch
    that contains them.
    """

    def __init__(self, api: BatchApi, spec: ModelSpec, price: Price | None, scheduler: BatchScheduler) -> None:
        self.traits = api.traits
        self.secrets = tuple(api.secrets)
        self._api = api
        self._spec = spec
        self._scheduler = scheduler
        self._pending = PendingRequests(api, spec.text, price, scheduler.journal)
        self._buffer: RequestBuffer | None = None
        self._buffered: dict[str, RequestBuffer] = {}
        self._most = scheduler.polling.requests
        self._senders: dict[str, BatchSender] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._collectors: dict[str, Collector] = {}
        self._refusals = 0
        scheduler.join(self)

    def earlier_state(self, request: GenerateRequest) -> Literal["bought", "owed"] | None:
        """Whether a request has been answered (`bought`) or sent (`owed`) in an earlier attempt at the run."""
        if not self._scheduler.journal.holds:
            return None
        entry = self._scheduler.journal.peek(self._digest(request))
        if entry.place is not None:
            return BOUGHT
        return OWED if entry.batch is not None else None

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call. Raises ModelError as a single call does, and RunError for what ends the run."""
        digest = self._digest(request)
        while True:
            entry = self._scheduler.journal.next(digest)
            if entry.place is not None:
                kept = reply_from_json(self._scheduler.journal.reply(entry.place))
                return replace(kept, bought=True)
            if entry.batch in self._collectors:
                reply = self._collected(entry, request)
                if reply is None:
                    continue
                return reply
            if entry.batch is not None:
                self._follow(entry.batch)
            else:
                self._enqueue(entry.key, request)
            try:
                self._scheduler.touch()
                return await self._pending.wait(entry.key, request)
            except AskAgain:
                continue
            finally:
                buffer = self._buffered.pop(entry.key, None)
                if buffer is not None:
                    buffer.drop(entry.key)

    def send(self) -> bool:
        """Send the buffered requests."""
        buffer, self._buffer = self._buffer, None
        if buffer is None:
            return False
        if not len(buffer):
            buffer.close()
            return False
        lines, keys = buffer.finish()
        for key in keys:
            self._buffered.pop(key, None)
        self._start(Batch(self._scheduler.name(), keys, lines), buffer)
        return True

    def at_work(self) -> bool:
        """Whether something is being sent or collected."""
        return any(sender.at_work for sender in self._senders.values())

    def fail_waiting(self, error: CrevalError) -> None:
        """Fail every waiting call with an error."""
        self._pending.fail_all(error)

    def __len__(self) -> int:
        return len(self._pending)

    async def close(self) -> None:
        """Leave the batches at the provider, and close connections."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for collector in self._collectors.values():
            collector.close()
        if self._buffer is not None:
            self._buffer.close()
        await self._api.close()

    def _digest(self, request: GenerateRequest) -> str:
        return cache_key(self._spec, self.traits, request)[:32]

    def _enqueue(self, key: str, request: GenerateRequest) -> None:
        line = RequestBuffer.line(key, self._api.body(request))
        try:
            self._buffer_line(key, line)
        except OSError as error:
            fix = f"Make room there, or name another folder (TMPDIR); then: {self._scheduler.resume_command}"
            raise RunError(f"the file of a batch cannot be written: {error}", where=gettempdir(), fix=fix) from error

    def _buffer_line(self, key: str, line: bytes) -> None:
        if self._buffer is not None and self._buffer.size + len(line) > self._scheduler.polling.size:
            self.send()
        if self._buffer is None:
            self._buffer = RequestBuffer()
        self._buffer.add(key, line)
        self._buffered[key] = self._buffer
        if len(self._buffer) >= self._most:
            self.send()

    def _follow(self, name: str) -> None:
        """Follow a batch that an earlier process sent."""
        if name not in self._senders:
            note = self._scheduler.journal.batches[name]
            self._start(Batch(name, note.keys, None, note.at, note.file, note.id))

    def _start(self, batch: Batch, buffer: RequestBuffer | None = None) -> None:
        sender = BatchSender(batch, self._api, self._pending, self._scheduler, self._spec.text)
        self._senders[batch.name] = sender
        self._tasks[batch.name] = asyncio.get_running_loop().create_task(self._run(sender, buffer))

    async def _run(self, sender: BatchSender, buffer: RequestBuffer | None) -> None:
        batch = sender.batch
        left = False
        try:
            await sender.run()
            left = sender.made and not sender.at_work
        except QueueFullError as why:
            left = await self._wait_for_room(sender, str(why))
        except asyncio.CancelledError:
            left = sender.made
            raise
        except ModelError as error:
            self._pending.fail(batch.keys, error)
        except CrevalError as error:
            self._scheduler.fail_waiting(error)
        except Exception as error:
            fault = RunError(f"a batch failed: {type(error).__name__}: {error}", where=batch.name)
            fault.__cause__ = error
            self._scheduler.fail_waiting(fault)
        finally:
            if buffer is not None:
                with suppress(OSError):
                    buffer.close()
            if sender.collector is not None:
                self._collectors[batch.name] = sender.collector
            sender.at_work = False
            if not left:  # one that the run leaves stays in the counts
                self._senders.pop(batch.name, None)
                self._tasks.pop(batch.name, None)
                self._scheduler.finished(batch.name)
            self._scheduler.touch()

    async def _wait_for_room(self, sender: BatchSender, why: str) -> bool:
        """Send a batch again that was too much: when another one has ended, else in halves. Return whether it waits."""
        batch, polling = sender.batch, self._scheduler.polling
        sender.made = False
        self._scheduler.finished(batch.name)
        others = [self._tasks[name] for name, each in self._senders.items() if each.made and name in self._tasks]
        if self._scheduler.detach and (others or len(batch.keys) == 1):
            return True
        if others:
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        elif len(batch.keys) > 1:
            self._most = max(1, len(batch.keys) // 2)
        elif self._refusals < polling.tries:
            await asyncio.sleep(min(polling.longest, polling.first * polling.growth**self._refusals))
            self._refusals += 1
        else:
            what = f"the provider accepts no batch, not even one of a single request: {why}"
            self._scheduler.fail_waiting(
                RunError(what, where=self._spec.text, fix=f"Nothing is lost; later: {self._scheduler.resume_command}")
            )
            return False
        self._pending.again(batch.keys)
        return False

    def _collected(self, entry: JournalEntry, request: GenerateRequest) -> Reply | None:
        """Return the answer from a batch that was collected before the question came; None if it has none."""
        assert entry.batch is not None
        collector = self._collectors[entry.batch]
        if entry.key not in collector:
            self._scheduler.journal.void(
                entry.key, entry.batch, "the batch ended without an answer to this request", None
            )
            return None
        try:
            return self._pending.read(entry.key, entry.batch, collector.take(entry.key), request)
        finally:
            if not len(collector):
                self._collectors.pop(entry.batch).close()
                self._scheduler.journal.ended(entry.batch, "all answered")
