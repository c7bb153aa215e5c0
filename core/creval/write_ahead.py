"""SQLite files in write-ahead mode, which several processes read and write at once."""

from __future__ import annotations

import sqlite3
import time

__all__ = ["switch_to_write_ahead"]

_RETRY_SECONDS = 0.01


def switch_to_write_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Switch a file to write-ahead mode, and wait up to so many seconds for another process that is creating it.

    sqlite itself does not wait for that, whatever the connection's timeout. Raises sqlite3.Error.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
    connection.execute("PRAGMA synchronous=NORMAL")
