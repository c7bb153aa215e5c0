"""The file of a batch while it is gathered: on disk, so that fifty thousand prompts are not held in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from creval.models.batches.calls import ENDPOINT

__all__ = ["Spool"]


class Spool:
    """Lines of requests in a temporary file, which only this user can read and which goes with `close`."""

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="creval-batch-", suffix=".jsonl")  # noqa: SIM115
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
        """Leave out a request for which nobody waits any more."""
        self._dropped.add(key)

    def finish(self) -> tuple[Path, list[str]]:
        """Return the file and the keys of its lines, in their order."""
        if self._dropped:
            self._leave_out()
        self._file.flush()
        return Path(self._file.name), self._keys

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def _leave_out(self) -> None:
        old = self._file
        self._file = tempfile.NamedTemporaryFile(prefix="creval-batch-", suffix=".jsonl")  # noqa: SIM115
        old.seek(0)
        for key, line in zip(self._keys, old, strict=True):
            if key not in self._dropped:
                self._file.write(line)
        self._keys = [key for key in self._keys if key not in self._dropped]
        self._dropped = set()
        old.close()
