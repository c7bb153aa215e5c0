"""One batch on its way: sent, looked at until it has ended, and brought home, whatever happens to it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, TypeVar

from creval.errors import CrevalError, ModelError, RetryableModelError, RunError
from creval.models.batches.calls import BatchCalls, BatchState, Fault
from creval.models.batches.desk import Batching
from creval.models.batches.harvest import Harvest
from creval.models.batches.waiting import Waiting

__all__ = ["Batch", "Courier", "Crowded"]

T = TypeVar("T")
_CROWDED = re.compile(r"enqueued|token[_ ]limit", re.IGNORECASE)
_TOO_MANY = 429


class Crowded(Exception):
    """The provider takes no more tokens for now."""


@dataclass(slots=True)
class Batch:
    """A batch: creval's name for it, the keys in the order of its file, and what is known of it at the provider.

    `lines` is its file, None where an earlier process sent it; `planned` (epoch seconds) is when.
    """

    name: str
    keys: Sequence[str]
    lines: BinaryIO | None = None
    planned: float = field(default_factory=time.time)
    file: str | None = None
    id: str | None = None


class Courier:
    """Sends and follows one batch for those who wait.

    `run` ends when the batch has ended, or, where the run is to be left, when it is on its way. Raises Crowded where
    the provider takes no more tokens for now, ModelError where the batch cannot be sent, and RunError for what ends the
    run and loses nothing: a batch that was cancelled, or whose state or answers cannot be had.
    """

    def __init__(self, batch: Batch, calls: BatchCalls, waiting: Waiting, desk: Batching, spec: str) -> None:
        self.batch = batch
        self._calls = calls
        self._waiting = waiting
        self._desk = desk
        self._spec = spec
        self.made = False
        self.at_work = True
        self.harvest: Harvest | None = None

    async def run(self) -> None:
        """See the class."""
        state = await self._sent()
        if state is None:
            return
        self.made = True
        pause = self._desk.pace.first
        while not state.ended:
            self._tell(state)
            self.at_work = False
            if self._desk.detach:
                self._desk.stir()
                return
            await asyncio.sleep(pause)
            pause = self._desk.pace.next(pause)
            state = await self._state()
        self.at_work = True
        with self._desk.busy():
            if state.status == "failed":
                self._rejected(state)
            else:
                await self._bring_home(state)
        self._desk.home(self.batch.name)

    def _tell(self, state: BatchState) -> None:
        _, completed, failed = state.counts or (0, 0, 0)
        self._desk.tell(self.batch.name, len(self.batch.keys), completed + failed)

    async def _sent(self) -> BatchState | None:
        """Send the batch, or find the one that was sent; None where that never came about."""
        batch, book = self.batch, self._desk.book
        if batch.id is not None:
            return await self._state()
        if batch.lines is None:
            state = await self._found()
            if state is None:
                book.ended(batch.name, "never made")
                self._waiting.again(batch.keys)
                return None
        else:
            book.planned(batch.name, self._spec, batch.keys)
            try:
                batch.file = await self._uploaded(batch.lines)
                book.uploaded(batch.name, batch.file)
                state = await self._created(batch.file)
            except (CrevalError, Crowded) as error:
                if batch.file is None or not isinstance(error, RunError):  # else it may be there, unheard of
                    book.ended(batch.name, "never made")
                raise
        batch.id = state.id
        book.made(batch.name, state.id)
        return state

    async def _uploaded(self, lines: BinaryIO) -> str:
        return await self._tried("sent", lambda: self._calls.upload(lines, self.batch.name))

    async def _created(self, file: str) -> BatchState:
        """Make the batch. Where the line broke it is looked for before it is made once more."""

        async def unheard(error: RetryableModelError) -> BatchState | None:
            if error.http_status == _TOO_MANY and _CROWDED.search(error.what):
                raise Crowded(error.what) from None
            return None if error.http_status == _TOO_MANY else await self._found()

        return await self._tried("made", lambda: self._calls.create(file, self.batch.name), unheard)

    async def _found(self) -> BatchState | None:
        """Look for the batch at the provider, until so long after it was sent that it would be listed."""
        batch, pace = self.batch, self._desk.pace
        pause, looked = pace.first, 0.0
        while True:
            state = await self._patiently(lambda: self._calls.find(batch.name, batch.file, batch.planned))
            if state is not None or looked >= pace.doubt or (batch.lines is None and _age(batch) >= pace.doubt):
                return state
            await asyncio.sleep(min(pause, pace.doubt))
            looked += min(pause, pace.doubt)
            pause = pace.next(pause)

    async def _state(self) -> BatchState:
        batch_id = self.batch.id
        assert batch_id is not None
        return await self._patiently(lambda: self._calls.state(batch_id))

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
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
        """Ask more than once; `otherwise` may find after a fault what was asked for. Raises RunError after the last."""
        pace = self._desk.pace
        pause = pace.first
        for left in reversed(range(pace.tries)):
            try:
                return await ask()
            except RetryableModelError as error:
                found = await otherwise(error) if otherwise is not None else None
                if found is not None:
                    return found
                if not left:
                    raise self._out_of_reach(what, error) from None
                await asyncio.sleep(pace.wait(pause, error.retry_after))
                pause = pace.next(pause)
        raise AssertionError("unreachable")

    def _out_of_reach(self, what: str, error: ModelError) -> RunError:
        later = f"Nothing is lost; later: {self._desk.goes_on}"
        cure = f"{error.cure}\n{later}" if error.cure else later
        return RunError(f"the batch {self._which()} cannot be {what}: {error.what}", where=error.where, cure=cure)

    def _rejected(self, state: BatchState) -> None:
        """The provider refused the file: nothing of it was answered. Raises Crowded."""
        batch = self.batch
        self._desk.book.ended(batch.name, state.status)
        crowd = next((each for each in state.faults if _CROWDED.search(f"{each.code} {each.message}")), None)
        if crowd is not None:
            raise Crowded(crowd.message)
        lines = {each.line: each for each in state.faults if each.line and each.line <= len(batch.keys)}
        whole = next((each for each in state.faults if each.line is None), None)
        if not lines:
            whole = whole or Fault("", "the provider did not say what is wrong with the batch", None)
        for number, key in enumerate(batch.keys, 1):
            fault = lines.get(number) or (None if lines else whole)
            if key not in self._waiting:
                continue
            if fault is None:
                self._waiting.again([key])
            else:
                self._waiting.deliver(key, batch.name, _refusal(fault))

    async def _bring_home(self, state: BatchState) -> None:
        batch, waiting = self.batch, self._waiting
        harvest = await self._harvested(state)
        stopped = state.status == "cancelled" and batch.lines is not None and harvest.good < len(batch.keys)
        if state.status == "cancelled":
            harvest.only_good()
        for count, key in enumerate(batch.keys):
            if key in waiting and key in harvest:
                waiting.deliver(key, batch.name, harvest.take(key))
            elif key in waiting and not stopped:
                waiting.missed(key, batch.name, state.status)
            if count % 32 == 0:
                await asyncio.sleep(0)
        if len(harvest):
            self.harvest = harvest  # whoever asks for these later in the run finds them there
        else:
            harvest.close()
            self._desk.book.ended(batch.name, state.status)
        if stopped:  # it was stopped; resuming the run needs it again
            raise RunError(
                f"the batch {self._which()} was cancelled at the provider; what it had answered by then is kept",
                cure=f"The rest is asked again by: {self._desk.goes_on}",
            )

    async def _harvested(self, state: BatchState) -> Harvest:
        """Bring the files of answers here, whole: again, where fewer lines came than the provider says there are."""
        files = [file for file in (state.output, state.error) if file]
        keys, pace = frozenset(self.batch.keys), self._desk.pace
        promised = state.counts[1] if state.counts is not None else 0
        harvest, pause = Harvest(), pace.first
        for left in reversed(range(pace.tries)):
            await self._patiently(lambda: harvest.bring(self._calls, files, keys))
            if harvest.good >= promised or len(harvest) == len(keys):
                return harvest
            if left:
                await asyncio.sleep(pause)
                pause = pace.next(pause)
        got = harvest.good
        harvest.close()
        what = f"of the batch {self._which()} {promised} answers are promised, and its files hold {got}"
        raise RunError(what, cure=f"Nothing is lost; later: {self._desk.goes_on}")

    def _which(self) -> str:
        return f"{self.batch.id} ({self.batch.name})" if self.batch.id else self.batch.name


def _refusal(fault: Fault) -> dict[str, object]:
    """The line that a batch would have for a request whose line in the file is at fault."""
    error = {"message": fault.message or fault.code, "code": fault.code or None}
    return {"response": {"status_code": 400, "body": {"error": error}}}


def _age(batch: Batch) -> float:
    return time.time() - batch.planned
