"""The journal of a run's batches: requests sent, answers received, and cost.

Every request has a key: the digest of what is asked (`creval.models.cache_key`: model, address, settings, messages,
sample, role, draw) and the number of the try. The key is the request's `custom_id` at the provider. A batch is recorded
before it is sent, when its file is uploaded, when it is created, and at its end; an answer is recorded when it is
delivered. A resumed run finds the state of each request by its key: answered, pending, or not sent yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from creval.plugin.batches import Appender, drop_torn_line, is_there, keep_lines, open_plain, parse_json, read_placed

__all__ = ["BatchJournal", "JournalEntry", "JournalFile", "SentBatch"]


class JournalFile:
    """`batches.jsonl`: JSON objects, each with its position. The file is created with the first one.

    Raises RunError if it is damaged or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing: Appender | None = None
        self._reading: BinaryIO | None = None
        drop_torn_line(path)

    def lines(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield every note with its place, in bytes."""
        yield from read_placed(self._path)

    def append(self, record: Mapping[str, Any], sure: bool = False) -> int:
        """Write one line and return its position; with `sure` it is on disk when this returns."""
        if self._writing is None:
            self._writing = Appender(self._path)
        place = self._writing.append(record)
        if sure:
            self._writing.close()
            self._writing = None
        return place

    def read(self, place: int) -> Mapping[str, Any]:
        """Return the note at a place."""
        if self._reading is None:
            self._reading = os.fdopen(open_plain(self._path), "rb")
        self._reading.seek(place)
        record: Mapping[str, Any] = parse_json(self._reading.readline().decode())
        return record

    def close(self) -> None:
        """Bring the notes to disk and close the file."""
        if self._reading is not None:
            self._reading.close()
        if self._writing is not None:
            self._writing.close()
        self._reading = self._writing = None

    def drop_answers(self) -> None:
        """Remove the answers: every sample and call holds its own."""
        self.close()
        if is_there(self._path):
            keep_lines(self._path, lambda record: "answer" not in record)


class JournalEntry(NamedTuple):
    """The state of a request: its key, and the position of its answer, or the name of its batch."""

    key: str
    place: int | None = None
    batch: str | None = None


@dataclass(slots=True)
class SentBatch:
    """A batch that an earlier process sent, or was about to. `at`: epoch seconds; `keys` in the order of its file."""

    name: str
    at: float
    keys: Sequence[str]
    file: str | None = None
    id: str | None = None


@dataclass(slots=True)
class BatchJournal:
    """The journal; see the module. Without `store` nothing outlives the process.

    `cost` and `calls`: US dollars and answers in the journal when it was opened.
    """

    store: JournalFile | None = None
    cost: float = 0.0
    calls: int = 0
    batches: dict[str, SentBatch] = field(default_factory=dict)
    _pending: dict[str, str] = field(default_factory=dict)
    _answers: dict[str, int] = field(default_factory=dict)
    _next: dict[bytes, int] = field(default_factory=dict)
    _top: dict[bytes, int] = field(default_factory=dict)

    def open(self, store: JournalFile) -> None:
        """Read earlier records, and append further ones. Raises KeyError, TypeError, ValueError for invalid records."""
        self.store = store
        for place, record in store.lines():
            if "answer" in record or "void" in record:
                self._learn(place, record)
            elif "requests" in record:
                self._begin(record)
            else:
                self._change(record)

    @property
    def holds(self) -> bool:
        """Whether there are records of earlier processes."""
        return bool(self._top)

    def peek(self, digest: str) -> JournalEntry:
        """Return the state of a request without consuming it."""
        return self._entry(digest, take=False)

    def next(self, digest: str) -> JournalEntry:
        """Return the state of a request; for a repeated request the next answer or the next try."""
        return self._entry(digest, take=True)

    def planned(self, name: str, model: str, keys: Sequence[str]) -> None:
        """Record that a batch is about to be sent."""
        self._write({"batch": name, "model": model, "at": _now(), "requests": list(keys)}, sure=True)

    def uploaded(self, name: str, file: str) -> None:
        """Record that the provider has the file of a batch."""
        self._write({"batch": name, "file": file}, sure=True)

    def made(self, name: str, batch_id: str) -> None:
        """Record that the provider has created a batch."""
        self._write({"batch": name, "id": batch_id, "at": _now()}, sure=True)

    def ended(self, name: str, status: str) -> None:
        """Record that a batch has ended: its answers are recorded here or void."""
        note = self.batches.pop(name, None)
        for key in note.keys if note is not None else ():
            self._pending.pop(key, None)
        self._write({"batch": name, "ended": status, "at": _now()})

    def answered(self, key: str, batch: str, reply: Mapping[str, Any]) -> None:
        """Record an answer when it is delivered."""
        self._pending.pop(key, None)
        self._write({"answer": key, "batch": batch, "reply": reply})

    def void(self, key: str, batch: str, error: str, lost: Mapping[str, Any] | None) -> None:
        """Record that the answer to a request is unusable, with its usage."""
        self._pending.pop(key, None)
        self._write({"void": key, "batch": batch, "error": error, **({"lost": lost} if lost else {})})

    def reply(self, place: int) -> Mapping[str, Any]:
        """Return the recorded answer at a position."""
        assert self.store is not None
        reply: Mapping[str, Any] = self.store.read(place)["reply"]
        return reply

    def close(self) -> None:
        """Write everything to disk."""
        if self.store is not None:
            self.store.close()

    def _entry(self, digest: str, take: bool) -> JournalEntry:
        short = bytes.fromhex(digest)
        number, top = self._next.get(short, 0), self._top.get(short, 0)
        entry = JournalEntry(f"{digest}-{max(number, top)}")
        for each in range(number, top):
            key = f"{digest}-{each}"
            if key in self._answers or key in self._pending:
                entry, number = JournalEntry(key, self._answers.get(key), self._pending.get(key)), each
                break
        else:
            number = max(number, top)
        if take:
            self._next[short] = number + 1
        return entry

    def _begin(self, record: Mapping[str, Any]) -> None:
        name = str(record["batch"])
        keys = [str(key) for key in record["requests"]]
        self.batches[name] = SentBatch(name, datetime.fromisoformat(record["at"]).timestamp(), keys)
        for key in keys:
            digest, _, number = key.partition("-")
            short = bytes.fromhex(digest)
            self._top[short] = max(self._top.get(short, 0), int(number) + 1)
            self._pending[key] = name

    def _change(self, record: Mapping[str, Any]) -> None:
        note = self.batches.get(str(record["batch"]))
        if note is None:
            return
        if "ended" in record:
            del self.batches[note.name]
            for key in note.keys:
                self._pending.pop(key, None)
        else:
            note.file = record.get("file", note.file)
            note.id = record.get("id", note.id)

    def _learn(self, place: int, record: Mapping[str, Any]) -> None:
        key = str(record.get("answer") or record["void"])
        self._pending.pop(key, None)
        paid = record.get("reply") or record.get("lost") or {}
        self.cost += paid.get("cost") or 0.0
        if "answer" in record:
            self.calls += 1
            self._answers[key] = place

    def _write(self, record: Mapping[str, Any], sure: bool = False) -> None:
        if self.store is not None:
            self.store.append(record, sure)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
