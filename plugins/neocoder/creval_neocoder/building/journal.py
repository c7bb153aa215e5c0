"""The journal of a build: every call as one line of a file, so that no call is paid twice.

The first line is the plan (models, settings, seed, problems). A later build of the same plan reuses the answers,
including truncated and unreadable ones; a build of another plan is rejected. Models are therefore never asked for
an answer that is in the journal, and a killed build continues where it stopped.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from creval.plugin import Message, Reply, RunError

__all__ = ["CallJournal", "Said"]

_FORM = 1


class Said(NamedTuple):
    """The text of a model, and its finish reason (`stop`, `length`, ...)."""

    text: str
    finish_reason: str


class CallJournal:
    """The answers of one build, by role, question and draw. Close it after use.

    Raises RunError if another process writes to it, it is damaged, or it belongs to another plan.
    """

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self._path = path
        self._said: dict[str, Said] = {}
        self.calls: defaultdict[str, int] = defaultdict(int)
        """Calls by role, including earlier attempts at this build."""
        self.cost = 0.0
        """Their cost in US dollars, as far as prices are known."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("a+b")
        try:
            self._lock()
            self._read({"form": _FORM, **plan})
        except BaseException:
            self._file.close()
            raise

    def find(self, role: str, messages: Sequence[Message], draw: int) -> Said | None:
        """Return the recorded answer to a question, None if there is none."""
        return self._said.get(_key(role, messages, draw))

    def keep(self, role: str, messages: Sequence[Message], draw: int, reply: Reply) -> Said:
        """Record an answer; it is in the file when this returns."""
        first = reply.completions[0]
        said = Said(first.text, "refusal" if first.refusal else first.finish_reason)
        usage = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
        line = {"key": _key(role, messages, draw), "role": role, **said._asdict(), "usage": usage, "cost": reply.cost}
        self._write(line)
        self._learn(line)
        return said

    def close(self) -> None:
        """Release it for other processes."""
        self._file.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RunError(
                "another process writes this output",
                where=str(self._path),
                fix="Wait until it ends, or name another --output.",
            ) from error

    def _read(self, plan: Mapping[str, Any]) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):  # a partial line from when the process was killed
            self._file.truncate(whole)
        lines = data[:whole].splitlines()
        if not lines:
            self._write(plan)
            return
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                if number > 1:
                    self._learn(record)
            except (ValueError, KeyError, TypeError) as error:
                where = f"{self._path}:{number}"
                raise RunError(f"a damaged line ({error!r})", where=where, fix="Remove this line.") from error
            if number == 1 and record != json.loads(json.dumps(plan)):
                changed = sorted(key for key in {*record, *plan} if record.get(key) != plan.get(key))
                raise RunError(
                    f"it was started with another {' and '.join(changed)}",
                    where=str(self._path),
                    fix="Give the same options as before, or another --output.",
                )

    def _learn(self, record: Mapping[str, Any]) -> None:
        self._said[str(record["key"])] = Said(str(record["text"]), str(record["finish_reason"]))
        self.calls[str(record["role"])] += 1
        self.cost += float(record["cost"] or 0.0)

    def _write(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False) + "\n"
        self._file.write(line.encode("utf-8", "surrogatepass"))
        self._file.flush()


def _key(role: str, messages: Sequence[Message], draw: int) -> str:
    question = [role, [message.to_json() for message in messages], draw]
    return hashlib.sha256(json.dumps(question).encode()).hexdigest()
