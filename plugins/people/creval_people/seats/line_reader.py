"""Lines from a terminal or pipe, read without delaying the end of the program."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import Future

__all__ = ["LineReader"]

_CHUNK = 65536
_LONGEST = 1_000_000


class LineReader:
    """Reads lines from a file descriptor.

    A daemon thread reads the descriptor: the program would wait at its end for a thread of the executor, and
    a thread inside `sys.stdin` would hold its lock; both would hang an interrupted program until a key is pressed.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self._pending: Future[str | None] | None = None

    async def line(self) -> str | None:
        """Return the next line without its end, None at the end of input.

        Safe to cancel: the next call returns a line that arrives later.
        """
        if self._pending is None:
            self._pending = Future()
            self._pending.set_running_or_notify_cancel()  # from here on a cancelled waiter does not cancel the read
            threading.Thread(target=self._read, args=(self._pending,), name="creval-person", daemon=True).start()
        line = await asyncio.wrap_future(self._pending)
        self._pending = None
        return line

    def _read(self, answer: Future[str | None]) -> None:
        try:
            answer.set_result(self._next())
        except OSError:  # a closed terminal counts as the end of input
            answer.set_result(None)

    def _next(self) -> str | None:
        while b"\n" not in self._buffer and len(self._buffer) < _LONGEST:
            chunk = os.read(self._descriptor, _CHUNK)
            if not chunk:
                rest, self._buffer = self._buffer, b""
                return rest.decode("utf-8", "replace") if rest else None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.removesuffix(b"\r").decode("utf-8", "replace")
