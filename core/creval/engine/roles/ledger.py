"""The ledger stores each call to a role other than the target when it ends, so that no question is paid for twice.

A question is (provider, address, model, settings, messages, draw number). It has one answer, whichever component asks
and in whatever order. If it is asked again while the call is running, both askers get the same answer. Stored answers
are reused when a run is resumed or scored again. Answers that were cut, refused or empty, or that their asker could not
read (`Ledger.unreadable`), are not reused: the next asker gets a new answer.

The usage of calls (tokens and cost) is summed so that the result does not depend on their order.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from creval.engine.planning.seeds import derive
from creval.errors import FatalModelError, ModelError
from creval.models.cache_key import canonical_json
from creval.models.model import Model
from creval.models.secrets import redact
from creval.runs.call_journal import CallJournal, CallPlace
from creval.runs.media import MediaFolder
from creval.runs.text_references import message_reference, settings_reference, tool_reference
from creval.types.messages import GenerateRequest, LostUsage, Reply, Usage
from creval.types.reply_json import lost_to_json, reply_from_json, reply_to_json

__all__ = ["CallOrigin", "Ledger", "RoleCounts", "UsageTally", "question_key", "reusable"]


_TARGET = "target"

_COUNTS = ("calls", "errors", "reused", "unpriced", "lost_tries", "flags", "served_by")

_KINDS = tuple(each.name for each in fields(Usage))


@dataclass(slots=True)
class UsageTally:
    """The usage of calls, including unusable tries (`lost_tries`).

    `reused` counts answers that another run had paid for; they cost nothing here. `flags` counts the samples with an
    odd answer of the target (`creval.models.answers.flags`), `served_by` the target's calls by the provider that
    answered.
    """

    calls: int = 0
    errors: int = 0
    reused: int = 0
    unpriced: int = 0
    lost_tries: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    served_by: Counter[str] = field(default_factory=Counter)
    _costs: array[float] = field(default_factory=lambda: array("d"))
    _tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))

    @property
    def usage(self) -> Usage:
        """The tokens of all calls."""
        return Usage(**self._tokens)

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the target's calls of a sample, a line of samples/; those of other roles are in the ledger."""
        flags: set[str] = set()
        shared = "shared_from" in record  # counted in the task that asked
        for call in record["calls"]:
            if call["role"] == _TARGET:
                reply = call.get("reply")
                if shared:
                    self.reused += reply is not None
                else:
                    self.add_call(reply, call.get("lost"))
                if reply is not None and "flags" in reply:
                    flags.update(reply["flags"])
                if reply is not None and reply.get("served_by"):
                    self.served_by[reply["served_by"]] += 1
        if flags:
            self.flags.update(flags)

    def add_call(self, reply: Mapping[str, Any] | None, lost: Mapping[str, Any] | None) -> None:
        """Add one stored call: its reply, if any, and the usage of its earlier tries."""
        if reply is not None:
            self.calls += 1
            self._pay(reply)
        if lost is not None:
            self.lost_tries += lost["tries"]
            self._pay(lost)

    def _pay(self, charge: Mapping[str, Any]) -> None:
        tokens = self._tokens
        for kind, count in charge.get("usage", {}).items():
            tokens[kind] += count
        cost = charge.get("cost")
        if cost is None:
            self.unpriced += 1
        elif cost:
            self._costs.append(cost)

    def join(self, other: UsageTally) -> None:
        """Add the usage of other calls."""
        self.calls += other.calls
        self.errors += other.errors
        self.reused += other.reused
        for kind, count in other._tokens.items():
            self._tokens[kind] += count
        self.unpriced += other.unpriced
        self.lost_tries += other.lost_tries
        self.flags.update(other.flags)
        self.served_by.update(other.served_by)
        self._costs.extend(other._costs)

    def saved(self) -> tuple[Mapping[str, Any], np.ndarray[Any, np.dtype[np.float64]]]:
        """Return the tally as plain data, and the costs of single calls."""
        data = {name: getattr(self, name) for name in _COUNTS}
        return data | {"tokens": self._tokens}, np.array(self._costs, dtype=np.float64)

    @classmethod
    def restored(cls, data: Mapping[str, Any], costs: np.ndarray[Any, Any]) -> UsageTally:
        """Return a tally from saved data. Raises KeyError, TypeError or ValueError for other data."""
        blank = cls()
        tally = cls(**{name: type(getattr(blank, name))(data[name]) for name in _COUNTS})
        tally._tokens = {kind: int(data["tokens"][kind]) for kind in _KINDS}
        tally._costs = array("d", costs.astype(np.float64).tobytes())
        return tally

    @property
    def cost(self) -> float:
        """The cost in US dollars of the calls whose price is known."""
        return math.fsum(self._costs)

    def to_json(self) -> dict[str, float]:
        """Return the sums in the form of results.json."""
        return {
            "calls": self.calls,
            "input_tokens": self._tokens["input_tokens"],
            "output_tokens": self._tokens["output_tokens"],
            "reasoning_tokens": self._tokens["reasoning_tokens"],
            "cost": self.cost,
            "unpriced_calls": self.unpriced,
            "lost_tries": self.lost_tries,
        }


_VERSION = 1  # version of the key's definition; raise it when the definition changes, so that old keys do not match

_CUT = frozenset({"length", "content_filter", "error", "abort", "unknown"})

_SEED_LIMIT = 2**31 - 1

_BY_SAMPLE = "sample"

Step = Literal["generation", "scoring", "analysis"]


class CallOrigin(NamedTuple):
    """Who asks, for which draw of the answer, and whether the sample's identity is part of the question.

    `apart` is the role, if its answer to a question differs from that of another role even when the same model plays
    both.
    """

    step: Step
    draw: int = 0
    about_sample: bool = False
    apart: str = ""


class RoleCounts(NamedTuple):
    """The counts of one role since the ledger was opened: calls answered, answers reused, US dollars."""

    calls: int
    reused: int
    cost: float


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class _JournalPlace(NamedTuple):
    journal: int
    place: CallPlace


def question_key(model: Model, request: GenerateRequest, asking: CallOrigin) -> str:
    """Return the sha256 (hex) of a question. Raises UsageError if a setting cannot be written as JSON."""
    about = model.describe()
    origin = request.origin
    identity = {
        "version": _VERSION,
        **{name: about[name] for name in ("provider", "model", "base_url", "identity")},
        "settings": {name: value for name, value in request.settings.items() if value is not None},
        "n": request.n,
        "messages": [message.to_json() for message in request.messages],
        "draw": asking.draw,
        "sample": [*origin.key, origin.role] if asking.about_sample else None,
        **({"apart": asking.apart} if asking.apart else {}),
    }
    if request.tools:
        identity["tools"] = [tool.to_json() for tool in request.tools]
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


class Ledger:
    """The calls to roles of one run. Without a journal (`keep_in`) answers are only kept in memory.

    For an answer in a journal only its position is kept in memory. Use it from one event loop at a time. `watch` is
    called after each call.
    """

    def __init__(self, seed: int = 0) -> None:
        self.watch: Callable[[], None] | None = None
        self._seed = seed
        self._journals: list[CallJournal] = []
        self._places: dict[bytes, _JournalPlace] = {}
        self._memory: dict[str, Reply] = {}
        self._attempts: Counter[bytes] = Counter()
        self._void: set[bytes] = set()
        self._pending: dict[str, asyncio.Task[Reply]] = {}
        self._failed: dict[str, ModelError] = {}
        self._usage: defaultdict[tuple[str, str], UsageTally] = defaultdict(UsageTally)
        self._usage_since_open: defaultdict[str, UsageTally] = defaultdict(UsageTally)

    def keep_in(self, journal: CallJournal, others: Sequence[CallJournal] = ()) -> None:
        """Store calls in a run's journal; reuse its answers and those of `others` (earlier ones first).

        Raises RunError if a line of a journal is damaged or not a call.
        """
        self._journals = [journal, *others]
        for number, source in enumerate(self._journals):
            for place, record in source.lines():
                try:
                    self._learn(number, place, record)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    raise source.fault(place, error) from error

    async def ask(self, model: Model, request: GenerateRequest, asking: CallOrigin) -> Reply:
        """Return the answer to a question, stored or new.

        Raises the model's errors (ModelError, BudgetError, UsageError), and RunError if a call cannot be written. A
        role is not asked further if its model refused every call so far (a wrong key, an unknown model).
        """
        key, role = question_key(model, request, asking), request.origin.role
        pending = self._pending.get(key)
        if pending is None:
            reply = self._find(key, request)
            if reply is not None:
                return self._reused(reply, role)
            refusal = self.silent(role)
            if isinstance(refusal, FatalModelError) and refusal.every_call:
                raise FatalModelError(refusal.what, where=refusal.where, fix=refusal.fix, every_call=True)
            pending = asyncio.ensure_future(self._pay(model, request, asking, key))
            self._pending[key] = pending
            pending.add_done_callback(partial(self._forget_pending, key))
            return await asyncio.shield(pending)
        return self._reused(await asyncio.shield(pending), role)

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Mark an answer as unreadable for its asker: the next asker gets a new answer."""
        if reply.record is None:
            return
        role, key, attempt = reply.record.split("#")
        short = _short(key)
        newest = self._attempts[short] == int(attempt) + 1
        if not newest or (short not in self._places and key not in self._memory):
            return  # another asker already marked it, or it is not reused anyway
        self._memory.pop(key, None)
        if self._places.pop(short, None) is not None:
            self._void.add(short)
            self._journals[0].append(role, {"key": key, "attempt": int(attempt), "role": role, "unreadable": reason})

    def silent(self, role: str) -> ModelError | None:
        """Return the last error of a role that has answered nothing since the ledger was opened, or None."""
        tally = self._usage_since_open[role]
        return None if tally.calls or tally.reused else self._failed.get(role)

    def usage(self, task: str) -> Mapping[str, UsageTally]:
        """Return the usage of each role's calls for a task, over all attempts at the run ("": for analyses)."""
        return {role: tally for (of, role), tally in sorted(self._usage.items()) if of == task}

    def counts(self) -> Mapping[str, RoleCounts]:
        """Return the counts of each role since the ledger was opened."""
        return {
            role: RoleCounts(tally.calls, tally.reused, tally.cost)
            for role, tally in sorted(self._usage_since_open.items())
        }

    async def finish_pending(self) -> None:
        """Wait for calls in flight that nothing awaits any longer, so that their paid answers are stored."""
        await asyncio.gather(*self._pending.values(), return_exceptions=True)

    async def close(self) -> None:
        """End the calls in flight and write the lines to disk."""
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for journal in self._journals:
            journal.close()

    def _learn(self, number: int, place: CallPlace, record: Mapping[str, Any]) -> None:
        """Read one line of an earlier journal."""
        key = _short(record["key"])
        if number == 0 and "unreadable" not in record:
            self._attempts[key] = max(self._attempts[key], int(record["attempt"]) + 1)
            _count(self._usage[_task(record), place.role], record)
        if "unreadable" in record:
            if key in self._places and self._places[key].journal == number:
                del self._places[key]
            if number == 0:
                self._void.add(key)
        elif reusable(record) and number == 0:
            self._places[key] = _JournalPlace(number, place)
        elif reusable(record) and key not in self._void:
            self._places.setdefault(key, _JournalPlace(number, place))

    def _reused(self, reply: Reply, role: str) -> Reply:
        self._usage_since_open[role].reused += 1
        self._notify()
        return replace(reply, cached=True, cost=0.0)

    def _forget_pending(self, key: str, task: asyncio.Task[Reply]) -> None:
        self._pending.pop(key, None)
        if not task.cancelled():
            task.exception()  # retrieved, even if every asker was cancelled

    def _find(self, key: str, request: GenerateRequest) -> Reply | None:
        """Return the stored answer; one of another run is also written to this run's journal."""
        short = _short(key)
        position = self._places.get(short)
        if position is None:
            return self._memory.get(key)
        record = dict(self._journals[position.journal].read(position.place))
        if record["key"] != key:
            return None
        reply = reply_from_json(record["reply"])
        if position.journal:
            source = record.get("from") or {"run": self._journals[position.journal].path.name, "at": record["at"]}
            record.pop("lost", None)
            record |= _question(request) | {"reply": reply_to_json(reply)}
            record |= {"from": source, "attempt": self._attempts[short], "at": _time()}
            self._keep_media(request)
            self._write(record)
        return replace(reply, record=f"{record['role']}#{key}#{record['attempt']}")

    async def _pay(self, model: Model, request: GenerateRequest, asking: CallOrigin, key: str) -> Reply:
        attempt = self._attempts[_short(key)]
        self._keep_media(request)
        record = _head(model, request, asking) | {"key": key, "attempt": attempt}
        try:
            reply = await model.generate(_prepared(model, request, asking, (self._seed, key, attempt)))
        except ModelError as error:
            self._failed[request.origin.role] = error
            self._write(record | {"at": _time(), "error": redact(str(error))} | _lost(error.lost))
            raise
        reply = replace(reply, record=f"{request.origin.role}#{key}#{attempt}")
        record |= {"at": _time(), "reply": reply_to_json(reply)} | _lost(reply.lost)
        self._write(record)
        if not self._journals and reusable(record):
            self._memory[key] = reply
        return reply

    def _keep_media(self, request: GenerateRequest) -> None:
        """Store the images, audio and files of a question in the run's folder."""
        media = [part for message in request.messages if not message.plain for part in message.media]
        if media and self._journals and not request.by_reference:
            MediaFolder(self._journals[0].path).keep(media)

    def _write(self, record: Mapping[str, Any]) -> None:
        short, role = _short(record["key"]), str(record["role"])
        place = self._journals[0].append(role, record) if self._journals else None
        self._attempts[short] = int(record["attempt"]) + 1
        _count(self._usage[_task(record), role], record)
        if "from" not in record:  # such an answer counts as reused
            _count(self._usage_since_open[role], record)
        if place is not None and reusable(record):
            self._places[short] = _JournalPlace(0, place)
        self._notify()

    def _notify(self) -> None:
        if self.watch is not None:
            self.watch()


def _short(key: str) -> bytes:
    return bytes.fromhex(key[:32])


def _task(record: Mapping[str, Any]) -> str:
    return str(record["asked"].get("task", ""))


def reusable(record: Mapping[str, Any]) -> bool:
    """Whether a call ended with a complete answer: none of its completions was cut, refused or empty."""
    completions = record.get("reply", {}).get("completions", ())
    return bool(completions) and all(
        (completion["text"].strip() or completion.get("tool_calls"))
        and completion["finish_reason"] not in _CUT
        and not completion.get("refusal")
        for completion in completions
    )


def _count(tally: UsageTally, record: Mapping[str, Any]) -> None:
    if "from" in record:
        tally.reused += 1
        return
    tally.errors += "error" in record
    tally.add_call(record.get("reply"), record.get("lost"))


def _lost(lost: LostUsage | None) -> dict[str, Any]:
    return {} if lost is None else {"lost": lost_to_json(lost)}


def _head(model: Model, request: GenerateRequest, asking: CallOrigin) -> dict[str, Any]:
    """Return the part of a line about the question and its first asker."""
    description, key = model.describe(), request.origin.key
    asker: dict[str, Any] = {"step": asking.step}
    if asking.step != "analysis":
        asker |= {"task": key.task, "doc_id": key.doc, "condition": key.condition, "repeat": key.repeat}
    return {
        "role": request.origin.role,
        "model": description["spec"],
        **{name: description[name] for name in ("base_url", "identity") if description[name]},
        "draw": asking.draw,
        "asked": asker,
        **_question(request),
    }


def _question(request: GenerateRequest) -> dict[str, Any]:
    """Return the part of a line about the question itself: its role, messages and settings."""
    settings = {**request.settings, "n": request.n} if request.n > 1 else dict(request.settings)
    messages = [message.to_json() for message in request.messages]
    if request.by_reference:
        messages = [message_reference(message) for message in messages]
        settings = settings_reference(settings)
    record: dict[str, Any] = {"role": request.origin.role, "messages": messages}
    if request.tools:
        tools = [tool.to_json() for tool in request.tools]
        record["tools"] = [*map(tool_reference, tools)] if request.by_reference else tools
    return record | ({"settings": settings} if settings else {})


def _prepared(
    model: Model, request: GenerateRequest, asking: CallOrigin, identity: tuple[int, str, int]
) -> GenerateRequest:
    """Return the request to send, identified in the response cache by its question, with a seed if required.

    A model in this process always gets a seed for each question, others only with `seed: sample`.
    """
    seed, key, attempt = identity
    origin = request.origin
    sample = (*origin.key, origin.role) if asking.about_sample else ()
    origin = replace(origin, identity=(*sample, *filter(None, [asking.apart]), asking.draw, attempt))
    settings = dict(request.settings)
    if settings.get("seed", None if model.traits.remote else _BY_SAMPLE) == _BY_SAMPLE:
        settings["seed"] = derive(seed, "question", key, attempt) % _SEED_LIMIT
    return replace(request, settings=settings, origin=origin)
