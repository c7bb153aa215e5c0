"""Vectors of texts on disk, across runs and processes (sqlite)."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from creval.plugin.encoders import switch_to_write_ahead

__all__ = ["VectorCache"]

_log = logging.getLogger(__name__)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS instrument (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vector (
    instrument INTEGER NOT NULL, text TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (instrument, text)
) WITHOUT ROWID;
"""
_BUSY_SECONDS = 30.0  # seconds to wait for another process that writes
_CHUNK = 500  # less than sqlite's limit of bound parameters


class VectorCache:
    """float32 vectors of one resource. An unusable file is reported once and then ignored: a faulty cache costs time
    but does not end a run.
    """

    def __init__(self, path: Path, resource: str, dimension: int) -> None:
        self._path = path
        self._bytes = 4 * dimension
        self._connection: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
            switch_to_write_ahead(connection, _BUSY_SECONDS)
            connection.executescript(_SCHEMA)
            with connection:
                connection.execute("INSERT OR IGNORE INTO instrument (name) VALUES (?)", (resource,))
            row = connection.execute("SELECT id FROM instrument WHERE name = ?", (resource,)).fetchone()
            self._resource = int(row[0])
            self._connection = connection
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def read(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the stored vectors by text."""
        found: dict[str, np.ndarray] = {}
        if self._connection is None:
            return found
        try:
            for start in range(0, len(texts), _CHUNK):
                part = texts[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT text, value FROM vector WHERE instrument = ? AND text IN ({marks})",
                    (self._resource, *part),
                )
                # A row of another length is damaged; the text is then embedded again.
                found.update({t: np.frombuffer(v, dtype="<f4") for t, v in rows if len(v) == self._bytes})
        except sqlite3.Error as error:
            self._give_up(error)
        return found

    def write(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Store vectors; they replace those already stored for the same texts."""
        if self._connection is None:
            return
        rows = [(self._resource, text, np.asarray(v, dtype="<f4").tobytes()) for text, v in vectors.items()]
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _give_up(self, error: Exception) -> None:
        self.close()
        _log.warning("embeddings are not kept across runs: %s: %s", self._path, error)
