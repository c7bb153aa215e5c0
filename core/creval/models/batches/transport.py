"""A provider whose calls wait until a batch goes out, and return when its answers are there."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from tempfile import gettempdir
from typing import Literal

from creval.errors import CrevalError, ModelError, RunError
from creval.models.answers.reply_json import reply_from_json
from creval.models.batches.book import Turn
from creval.models.batches.calls import BatchCalls
from creval.models.batches.courier import Batch, Courier, Crowded
from creval.models.batches.desk import Batching
from creval.models.batches.harvest import Harvest
from creval.models.batches.spool import Spool
from creval.models.batches.waiting import AskAgain, Waiting
from creval.models.cache_key import cache_key
from creval.models.model_spec import ModelSpec
from creval.models.prices import Price
from creval.types.messages import GenerateRequest, Reply

__all__ = ["BOUGHT", "OWED", "BatchProvider"]

BOUGHT: Literal["bought"] = "bought"
OWED: Literal["owed"] = "owed"


class BatchProvider:
    """A `Provider` over `BatchCalls`: one model, any number of batches on their way at once.

    What an earlier attempt at the run has asked is not asked again: its answer comes from the book, or from the batch
    that it is in.
    """

    def __init__(self, calls: BatchCalls, spec: ModelSpec, price: Price | None, desk: Batching) -> None:
        self.traits = calls.traits
        self.secrets = tuple(calls.secrets)
        self._calls = calls
        self._spec = spec
        self._desk = desk
        self._waiting = Waiting(calls, spec.text, price, desk.book)
        self._spool: Spool | None = None
        self._spooled: dict[str, Spool] = {}
        self._most = desk.pace.requests
        self._couriers: dict[str, Courier] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._harvests: dict[str, Harvest] = {}
        self._crowds = 0
        desk.join(self)

    def standing(self, request: GenerateRequest) -> Literal["bought", "owed"] | None:
        """Whether a request has been answered (`bought`) or sent (`owed`) in an earlier attempt at the run."""
        if not self._desk.book.holds:
            return None
        turn = self._desk.book.peek(self._digest(request))
        if turn.place is not None:
            return BOUGHT
        return OWED if turn.batch is not None else None

    async def generate(self, request: GenerateRequest) -> Reply:
        """Make one call. Raises ModelError as a single call does, and RunError for what ends the run."""
        digest = self._digest(request)
        while True:
            turn = self._desk.book.next(digest)
            if turn.place is not None:
                kept = reply_from_json(self._desk.book.reply(turn.place))
                return replace(kept, bought=True)
            if turn.batch in self._harvests:
                reply = self._harvested(turn, request)
                if reply is None:
                    continue
                return reply
            if turn.batch is not None:
                self._follow(turn.batch)
            else:
                self._gather(turn.key, request)
            try:
                self._desk.stir()
                return await self._waiting.wait(turn.key, request)
            except AskAgain:
                continue
            finally:
                spool = self._spooled.pop(turn.key, None)
                if spool is not None:
                    spool.drop(turn.key)

    def send(self) -> bool:
        """Send what is gathered."""
        spool, self._spool = self._spool, None
        if spool is None:
            return False
        if not len(spool):
            spool.close()
            return False
        lines, keys = spool.finish()
        for key in keys:
            self._spooled.pop(key, None)
        self._carry(Batch(self._desk.name(), keys, lines), spool)
        return True

    def at_work(self) -> bool:
        """Whether something is being sent or brought home."""
        return any(courier.at_work for courier in self._couriers.values())

    def let_go(self, error: CrevalError) -> None:
        """Hand an error out to all that wait."""
        self._waiting.fail_all(error)

    def __len__(self) -> int:
        return len(self._waiting)

    async def close(self) -> None:
        """Leave the batches where they are, and close connections."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for harvest in self._harvests.values():
            harvest.close()
        if self._spool is not None:
            self._spool.close()
        await self._calls.close()

    def _digest(self, request: GenerateRequest) -> str:
        return cache_key(self._spec, self.traits, request)[:32]

    def _gather(self, key: str, request: GenerateRequest) -> None:
        line = Spool.line(key, self._calls.body(request))
        try:
            self._spooling(key, line)
        except OSError as error:
            cure = f"Make room there, or name another folder (TMPDIR); then: {self._desk.goes_on}"
            raise RunError(f"the file of a batch cannot be written: {error}", where=gettempdir(), cure=cure) from error

    def _spooling(self, key: str, line: bytes) -> None:
        if self._spool is not None and self._spool.size + len(line) > self._desk.pace.size:
            self.send()
        if self._spool is None:
            self._spool = Spool()
        self._spool.add(key, line)
        self._spooled[key] = self._spool
        if len(self._spool) >= self._most:
            self.send()

    def _follow(self, name: str) -> None:
        """See to a batch that an earlier process sent."""
        if name not in self._couriers:
            note = self._desk.book.batches[name]
            self._carry(Batch(name, note.keys, None, note.at, note.file, note.id))

    def _carry(self, batch: Batch, spool: Spool | None = None) -> None:
        courier = Courier(batch, self._calls, self._waiting, self._desk, self._spec.text)
        self._couriers[batch.name] = courier
        self._tasks[batch.name] = asyncio.get_running_loop().create_task(self._carried(courier, spool))

    async def _carried(self, courier: Courier, spool: Spool | None) -> None:
        batch = courier.batch
        left = False
        try:
            await courier.run()
            left = courier.made and not courier.at_work
        except Crowded as why:
            left = await self._crowded(courier, str(why))
        except asyncio.CancelledError:
            left = courier.made
            raise
        except ModelError as error:
            self._waiting.fail(batch.keys, error)
        except CrevalError as error:
            self._desk.let_go(error)
        except Exception as error:
            fault = RunError(f"a batch came to harm: {type(error).__name__}: {error}", where=batch.name)
            fault.__cause__ = error
            self._desk.let_go(fault)
        finally:
            if spool is not None:
                with suppress(OSError):
                    spool.close()
            if courier.harvest is not None:
                self._harvests[batch.name] = courier.harvest
            courier.at_work = False
            if not left:  # one that the run leaves stays in the counts
                self._couriers.pop(batch.name, None)
                self._tasks.pop(batch.name, None)
                self._desk.home(batch.name)
            self._desk.stir()

    async def _crowded(self, courier: Courier, why: str) -> bool:
        """Send a batch again that was one too many: when another has ended, or else in halves. True: not now."""
        batch, pace = courier.batch, self._desk.pace
        courier.made = False
        self._desk.home(batch.name)
        others = [self._tasks[name] for name, each in self._couriers.items() if each.made and name in self._tasks]
        if self._desk.detach and (others or len(batch.keys) == 1):
            return True
        if others:
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        elif len(batch.keys) > 1:
            self._most = max(1, len(batch.keys) // 2)
        elif self._crowds < pace.tries:
            await asyncio.sleep(min(pace.longest, pace.first * pace.growth**self._crowds))
            self._crowds += 1
        else:
            what = f"the provider takes no batch, not even one of a single request: {why}"
            self._desk.let_go(
                RunError(what, where=self._spec.text, cure=f"Nothing is lost; later: {self._desk.goes_on}")
            )
            return False
        self._waiting.again(batch.keys)
        return False

    def _harvested(self, turn: Turn, request: GenerateRequest) -> Reply | None:
        """The answer of a batch that came home before it was asked for; None where the batch has none."""
        assert turn.batch is not None
        harvest = self._harvests[turn.batch]
        if turn.key not in harvest:
            self._desk.book.void(turn.key, turn.batch, "the batch ended without an answer to this request", None)
            return None
        try:
            return self._waiting.read(turn.key, turn.batch, harvest.take(turn.key), request)
        finally:
            if not len(harvest):
                self._harvests.pop(turn.batch).close()
                self._desk.book.ended(turn.batch, "all answered")
