"""The file of a batch while requests are added: on disk, so that fifty thousand prompts are not in memory.

The file has no name, so that even a killed process leaves no prompts.
"""

from __future__ import annotations

import tempfile
from typing import BinaryIO, cast

from creval_batches.batch_api import ENDPOINT

__all__ = ["RequestBuffer"]


class RequestBuffer:
    """Lines of requests in a temporary file; `close` removes it."""

    def __init__(self) -> None:
        self._file = _nameless()
        self._keys: list[str] = []
        self._dropped: set[str] = set()
        self.size = 0

    def __len__(self) -> int:
        return len(self._keys) - len(self._dropped)

    @staticmethod
    def line(key: str, body: bytes) -> bytes:
        """Return the line of a request."""
        head = f'{{"custom_id":"{key}","method":"POST","url":"{ENDPOINT}","body":'
        return head.encode() + body + b"}\n"

    def add(self, key: str, line: bytes) -> None:
        """Add a request."""
        self._file.write(line)
        self._keys.append(key)
        self.size += len(line)

    def drop(self, key: str) -> None:
        """Remove a request for which no call waits any more."""
        self._dropped.add(key)

    def finish(self) -> tuple[BinaryIO, list[str]]:
        """Return the open file and the keys of its lines, in their order."""
        if self._dropped:
            self._leave_out()
        self._file.flush()
        return self._file, self._keys

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def _leave_out(self) -> None:
        old = self._file
        self._file = _nameless()
        old.seek(0)
        for key, line in zip(self._keys, old, strict=True):
            if key not in self._dropped:
                self._file.write(line)
        self._keys = [key for key in self._keys if key not in self._dropped]
        self._dropped = set()
        old.close()


def _nameless() -> BinaryIO:
    return cast(BinaryIO, tempfile.TemporaryFile())
