"""The response cache: answers stored across runs, in one sqlite file."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from creval.errors import DataError
from creval.types.messages import Reply
from creval.types.reply_json import reply_from_json, reply_to_json
from creval.write_ahead import switch_to_write_ahead

__all__ = ["ResponseCache"]

_SCHEMA_VERSION = 1
_BUSY_SECONDS = 60.0  # seconds to wait for another process that writes
_BATCH_SECONDS = 0.25
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID"


class ResponseCache:
    """key -> Reply. Several processes may use one file at once; the first answer to a key stays.

    A thread writes in batches, so that no call waits for the disk; `close` returns when everything is written. The file
    is in write-ahead mode, which needs a local disk. Raises DataError if the file is damaged, has another version, or
    cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pending: dict[str, Reply] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._failure: DataError | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = self._connect()
            self._prepare()
        except (sqlite3.Error, OSError) as error:
            raise self._damaged(error) from error
        self._writer = threading.Thread(target=self._write_all, name="creval-cache", daemon=True)
        self._writer.start()

    def get(self, key: str) -> Reply | None:
        """Return the stored reply, or None."""
        self._raise_failure()
        pending = self._pending.get(key)
        if pending is not None:
            return pending
        try:
            row = self._reader.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return None if row is None else _reply(row[0])
        except (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._damaged(error) from error

    def put(self, key: str, reply: Reply) -> None:
        """Store a reply; it is written soon, at the latest when `close` returns."""
        self._raise_failure()
        with self._changed:
            if self._closed:
                raise DataError("the answer cache is closed", where=str(self._path))
            self._pending[key] = reply
            if len(self._pending) == 1:
                self._changed.notify()

    def close(self) -> None:
        """Write pending replies and close. Raises DataError if that fails. Idempotent."""
        with self._changed:
            already, self._closed = self._closed, True
            self._changed.notify()
        self._writer.join()
        if not already:
            self._reader.close()
        self._raise_failure()

    def __len__(self) -> int:
        """Return the number of replies, written and pending."""
        on_disk: int = self._reader.execute("SELECT count(*) FROM replies").fetchone()[0]
        return on_disk + len(self._pending)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        switch_to_write_ahead(connection, _BUSY_SECONDS)
        return connection

    def _prepare(self) -> None:
        """Create the table in a new file; refuse a file of another version."""
        connection = self._reader
        connection.execute("BEGIN IMMEDIATE")
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version == 0 and not tables:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
        connection.execute("COMMIT")
        if version not in (0, _SCHEMA_VERSION) or (version == 0 and tables):
            connection.close()
            raise DataError(
                "this file is not an answer cache of this version of creval",
                where=str(self._path),
                fix=f"Remove it (rm '{self._path}'*), or run without --cache.",
            )
        connection.execute("SELECT key, reply FROM replies LIMIT 1").fetchone()

    def _write_all(self) -> None:
        """Write batches until the cache is closed and nothing is left (the writer thread)."""
        try:
            with closing(self._connect()) as connection:
                while True:
                    with self._changed:
                        if not self._pending and not self._closed:
                            self._changed.wait()
                        if self._pending and not self._closed:
                            self._changed.wait(_BATCH_SECONDS)
                        batch = dict(self._pending)
                        if not batch and self._closed:
                            break
                    self._write(connection, batch)
                # Committed data survive a power cut.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except (sqlite3.Error, OSError) as error:
            self._failure = self._damaged(error)

    def _write(self, connection: sqlite3.Connection, batch: Mapping[str, Reply]) -> None:
        rows = [(key, json.dumps(reply_to_json(reply), separators=(",", ":"))) for key, reply in batch.items()]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", rows)
        connection.execute("COMMIT")
        with self._changed:
            for key in batch:
                del self._pending[key]

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _damaged(self, error: Exception) -> DataError:
        if isinstance(error, DataError):
            return error
        if isinstance(error, OSError) or "locked" in str(error) or "full" in str(error) or "readonly" in str(error):
            return DataError(
                f"the answer cache cannot be used: {error}",
                where=str(self._path),
                fix="Free space or give write access, or run without --cache.",
            )
        return DataError(
            f"the answer cache is damaged: {error}",
            where=str(self._path),
            fix=f"Remove it (rm '{self._path}'*): its answers will be requested again. Or run without --cache.",
        )


def _reply(text: str) -> Reply:
    return reply_from_json(json.loads(text))
