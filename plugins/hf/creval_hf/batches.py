"""Gather concurrent calls into batches for one computing thread.

Waiting calls make a round, sorted by length, the longest first. A round is computed in batches. A batch that does not
fit into memory is halved and computed again, and later batches are no larger.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from creval.plugin.models import FatalModelError

__all__ = ["Batcher", "Computing", "Row"]

_LOG = logging.getLogger("creval.hf")
_QUIET = 0.01
"""Seconds without a new call before a round begins, so that samples that start together are computed together."""
_LONGEST_WAIT = 0.2


class Row(Protocol):
    """One line of a batch: an answer to generate, or a text whose likelihood is requested.

    Rows of different `kind` are not computed together. `length` is the maximum number of its tokens; `order` sorts rows
    of one kind: equal values stay together.
    """

    @property
    def kind(self) -> str: ...
    @property
    def length(self) -> int: ...
    @property
    def order(self) -> tuple[Any, ...]: ...


class Computing(Protocol):
    """The work of the thread."""

    def rows(self, request: Any) -> Sequence[Row]:
        """Return the rows of a request."""

    def compute(self, rows: Sequence[Row], cancelled: Callable[[int], bool]) -> Sequence[Any]:
        """Return one result for each row; any value for rows cancelled meanwhile."""

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether a smaller batch may succeed."""

    def release(self) -> None:
        """Free memory after an out-of-memory error."""


@dataclass(eq=False, slots=True)
class _Call:
    request: Any
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[list[Any]]
    cancelled: bool = False
    open: int = 0
    results: list[Any] = field(default_factory=list)

    def settle(self, error: BaseException | None = None) -> None:
        try:
            self.loop.call_soon_threadsafe(self._settle, error)
        except RuntimeError:  # the loop is closed: no caller waits
            self.cancelled = True

    def _settle(self, error: BaseException | None) -> None:
        if self.answer.done():
            return
        if error is None:
            self.answer.set_result(self.results)
        else:
            self.answer.set_exception(error)


@dataclass(eq=False, slots=True)
class _Waiting:
    row: Row
    call: _Call
    place: int


class Batcher:
    """One thread that computes the submitted requests. `most` is the largest batch.

    `largest` is the maximum of tokens in a batch, None as long as memory has sufficed.
    """

    def __init__(self, computing: Computing, most: int, where: str) -> None:
        self._computing = computing
        self._most = most
        self._where = where
        self._changed = threading.Condition()
        self._arrived: list[_Call] = []
        self._closing = False
        self._thread: threading.Thread | None = None
        self._open: set[_Call] = set()
        self.largest: int | None = None

    async def submit(self, request: Any) -> list[Any]:
        """Return the results of a request's rows. Raises the errors of the computation."""
        loop = asyncio.get_running_loop()
        call = _Call(request, loop, loop.create_future())
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="creval-hf", daemon=True)
                self._thread.start()
            if self._closing:
                raise FatalModelError("the model is closed", where=self._where)
            self._arrived.append(call)
            self._open.add(call)
            self._changed.notify()
        try:
            return await call.answer
        finally:
            call.cancelled = True  # a finished answer is not computed again either way
            with self._changed:
                self._open.discard(call)

    @property
    def idle(self) -> bool:
        """Return whether no call waits."""
        return not self._open

    def close(self) -> None:
        """End the thread after the current token."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        with self._changed:
            left = list(self._open)
        for call in left:
            call.settle(FatalModelError("the model is closed", where=self._where))

    def _work(self) -> None:
        while True:
            calls = self._round()
            if not calls:
                return
            waiting = [each for call in calls for each in self._rows_of(call)]
            waiting.sort(key=lambda each: (each.row.kind, each.row.order), reverse=True)
            while waiting:
                waiting = self._one_batch([each for each in waiting if not each.call.cancelled])

    def _round(self) -> list[_Call]:
        """Wait for calls until no more arrive; return an empty list at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._arrived or self._closing)
            known, waited = 0, 0.0
            while len(self._arrived) > known and waited < _LONGEST_WAIT and not self._closing:
                known = len(self._arrived)
                self._changed.wait_for(lambda: self._closing, timeout=_QUIET)
                waited += _QUIET
            calls, self._arrived = self._arrived, []
            return [] if self._closing else calls

    def _rows_of(self, call: _Call) -> list[_Waiting]:
        if call.cancelled:
            return []
        try:
            rows = self._computing.rows(call.request)
        except Exception as error:
            call.settle(error)
            return []
        call.open, call.results = len(rows), [None] * len(rows)
        if not rows:
            call.settle()
        return [_Waiting(row, call, place) for place, row in enumerate(rows)]

    def _one_batch(self, waiting: list[_Waiting]) -> list[_Waiting]:
        """Compute a batch of the waiting rows, and return the rest."""
        if not waiting or self._closing:
            return []
        batch = self._batch(waiting)
        error = self._computed(batch)
        if error is None:
            return waiting[len(batch) :]
        if self._computing.is_out_of_memory(error) and len(batch) > 1:
            error = None  # it references the frames, and so the memory, of the failed batch
            self._computing.release()
            longest = max(each.row.length for each in batch)
            self.largest = longest * (len(batch) // 2)
            _LOG.info("%s: out of memory with %d at once; now %d", self._where, len(batch), len(batch) // 2)
            return waiting
        if len(batch) == 1:
            batch[0].call.settle(self._explained(error))
            return waiting[1:]
        for each in batch:  # an error in one row must not affect the others
            alone = self._computed([each])
            if alone is not None:
                each.call.settle(self._explained(alone))
        return waiting[len(batch) :]

    def _batch(self, waiting: Sequence[_Waiting]) -> list[_Waiting]:
        """Return the first rows of one kind that fit."""
        kind, longest, count = waiting[0].row.kind, 0, 0
        for each in waiting[: self._most]:
            longest = max(longest, each.row.length)
            if each.row.kind != kind or (self.largest is not None and count and longest * (count + 1) > self.largest):
                break
            count += 1
        return list(waiting[:count])

    def _computed(self, batch: Sequence[_Waiting]) -> BaseException | None:
        def cancelled(place: int) -> bool:
            return self._closing or batch[place].call.cancelled

        try:
            results = self._computing.compute([each.row for each in batch], cancelled)
        except Exception as error:
            return error.with_traceback(None)
        for each, result in zip(batch, results, strict=True):
            each.call.results[each.place] = result
            each.call.open -= 1
            if not each.call.open:
                each.call.settle()
        return None

    def _explained(self, error: BaseException) -> BaseException:
        if isinstance(error, FatalModelError):
            return error
        self._computing.release()
        if self._computing.is_out_of_memory(error):
            fix = "Use a smaller model, dtype=bfloat16, load_in=4bit, or shorter questions and answers."
            return FatalModelError("a single question does not fit into memory", where=self._where, fix=fix)
        reason = (str(error).strip().splitlines() or [""])[0][:300]
        what = f"computing failed: {type(error).__name__}: {reason}"
        return FatalModelError(what, where=self._where, fix="See the message; other samples are not affected.")
