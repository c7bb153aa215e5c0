"""Entailment: by a language model in a role (`role/judge`), without a model (`exact`), and its cache."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import re
import threading
import unicodedata
from collections.abc import Awaitable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from creval.errors import ScoringError, UsageError
from creval.resources.resource_options import ResourceOptions
from creval.resources.vector_cache import VectorCache
from creval.types.components import Entailment
from creval.types.messages import Message, Reply
from creval.types.sample import SampleKey

__all__ = [
    "CALLS_A_PAIR",
    "PROMPT_BYTES",
    "Asker",
    "CachedEntailment",
    "ExactEntailment",
    "RoleEntailment",
    "read_label",
]


class ExactEntailment:
    """`exact`: certain entailment of equal texts (in NFC, case folded, white space as one blank), else certain neutral.

    The lower bound of every clustering by meaning: it merges only what is said in the same words.
    """

    cheap = True
    name = "exact"

    def __init__(self, model: str = "", options: ResourceOptions | None = None) -> None:
        pass

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each pair; shape (n, 3)."""
        rows = np.zeros((len(pairs), 3))
        for row, (premise, hypothesis) in zip(rows, pairs, strict=True):
            row[0 if _plain(premise) == _plain(hypothesis) else 1] = 1.0
        return rows


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


_LABELS = ("entailment", "neutral", "contradiction")

_TRIES = 2

_TARGET = "target"

_PROMPT = """\
Two texts follow. Decide how the second stands to the first.

entailment: if the first text is true, the second must be true.
contradiction: if the first text is true, the second cannot be true.
neutral: the second may be true or not.

First text:
{premise}

Second text:
{hypothesis}

Answer with one of these words alone: entailment, neutral, contradiction."""

CALLS_A_PAIR = (1, _TRIES)

"""The fewest and the most."""

PROMPT_BYTES = len(_PROMPT.format(premise="", hypothesis="").encode())

"""Without the two texts."""

_SAID = re.compile(
    r"[\W_]*(?:(?:the|my|final|answer|label|verdict|relation|is)[\W_]+)*(entailment|neutral|contradiction)[\W_]*",
    re.IGNORECASE,
)


class Asker(Protocol):
    """What asks a role and keeps its answers: a task's context, or a workbench."""

    async def ask(
        self, role: str, messages: Sequence[Message], key: SampleKey, draw: int = 0, **settings: Any
    ) -> Reply: ...

    def unreadable(self, reply: Reply, reason: str) -> None: ...


class RoleEntailment:
    """`role/<role>`: the probability is 1 for the label that the model in this role says. A model has to play the role.

    Nothing is kept on disk here: the ledger of the run keeps every verdict. `name` carries the checksum of the prompt.
    """

    cheap = True

    def __init__(self, model: str, options: ResourceOptions | None = None) -> None:
        if not model or model == _TARGET:
            raise UsageError(
                f"{model!r} is no role that can judge",
                where=f"resource entailment=role/{model}",
                fix="Name another role, e.g. entailment=role/judge, and its model: --role judge=<provider>/<model>.",
            )
        self.role = model
        self.name = f"role/{model}@sha256:{hashlib.sha256(_PROMPT.encode()).hexdigest()[:12]}"

    def bound(self, asker: Asker, task: str) -> _Asking:
        """Return what asks the role on behalf of a task ("": of none)."""
        return _Asking(self, asker, task)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Refuse: a role is asked through a task or a workbench. Raises UsageError."""
        raise UsageError(
            f"{self.name} calls a model, but none is named",
            fix="Open it through the context of a task, or a Workbench with roles.",
        )


class _Asking:
    """The same, with somebody who asks. A pair whose verdict could not be read is not paid again."""

    cheap = True

    def __init__(self, instrument: RoleEntailment, asker: Asker, task: str) -> None:
        self.name = instrument.name
        self._role = instrument.role
        self._asker = asker
        self._key = SampleKey(task, "entailment", "default", 0)  # a verdict belongs to no single sample
        self._unread: dict[tuple[str, str], str] = {}

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each pair; shape (n, 3).

        All pairs are asked side by side, and those that are on their way end before an error is raised. Raises
        ScoringError where a verdict cannot be read, asked twice, and what asking raises.
        """
        found = await asyncio.gather(*(self._label(pair) for pair in pairs), return_exceptions=True)
        rows = np.zeros((len(pairs), len(_LABELS)))
        for row, label in zip(rows, found, strict=True):
            if isinstance(label, BaseException):
                raise label
            row[_LABELS.index(label)] = 1.0
        return rows

    async def _label(self, pair: tuple[str, str]) -> str:
        premise, hypothesis = pair
        messages = [Message("user", _PROMPT.format(premise=premise, hypothesis=hypothesis))]
        for turn in range(_TRIES if pair not in self._unread else 0):
            reply = await self._asker.ask(self._role, messages, self._key)
            label = None if reply.lack else read_label(reply.text)
            if label is not None:
                return label
            said = reply.lack or f"{reply.text.strip()[:80]!r} is none of {', '.join(_LABELS)}"
            self._asker.unreadable(reply, said)
            if turn == _TRIES - 1:
                self._unread[pair] = said
        raise ScoringError(
            f"the verdict of the {self._role} cannot be read, asked {_TRIES} times: {self._unread[pair]}",
            where=self.name,
            fix="Name a model that follows the prompt; resuming the run asks again.",
        )


def read_label(text: str) -> str | None:
    """Return the label that an answer's first or last line says by itself; None where it is not one label."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = dict.fromkeys(lines[:1] + lines[-1:])
    said = {found[1].lower() for line in ends if (found := _SAID.fullmatch(line)) is not None}
    return said.pop() if len(said) == 1 else None


Pair = tuple[str, str]


class CachedEntailment:
    """An `Entailment` around another one. `name` is the instrument's full name. Safe for several threads.

    Probabilities are kept in `<cache>/entailment.sqlite` under the full name, by digests of the texts and as float32;
    what comes from there equals what was just made. One that costs nothing, or is kept elsewhere, says so by an
    attribute `cheap = True`. Of one that is awaited, pairs that are on their way are not asked for again.
    """

    def __init__(self, inner: Entailment, spec: str, options: ResourceOptions | None = None) -> None:
        self._inner = inner
        self._spec = spec
        self._options = options
        self._known: dict[Pair, np.ndarray] = {}
        self._flying: dict[Pair, asyncio.Future[None]] = {}
        self._disk: VectorCache | None = None
        self._opened = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return str(getattr(self._inner, "name", self._spec))

    @property
    def classes(self) -> int:
        """How many classes the instrument tells apart: 3, or 2 (what does not entail stands as neutral)."""
        return int(getattr(self._inner, "classes", 3))

    def bound(self, asker: Asker, task: str) -> CachedEntailment:
        """Return what judges on behalf of a task: itself, unless a role answers, whose model is the task's own."""
        bind = getattr(self._inner, "bound", None)
        return self if bind is None else CachedEntailment(bind(asker, task), self._spec, self._options)

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray | Awaitable[np.ndarray]:
        """Return (entailment, neutral, contradiction) for each (premise, hypothesis); shape (n, 3).

        What comes back has to be awaited where the instrument asks others. Raises ScoringError where it gives something
        that is no distribution, or a pair is too long for it.
        """
        with self._lock:
            missing = self._missing(pairs)
            made: Any = self._inner.predict(missing) if missing else None
            if inspect.isawaitable(made):
                self._await(missing, made)
            elif missing:
                self._learn(missing, made)
            flying = {self._flying[pair] for pair in pairs if pair in self._flying}
            if not flying:
                return self._rows(pairs)
        return self._later(pairs, flying)

    def close(self) -> None:
        """Close the store on disk."""
        if self._disk is not None:
            self._disk.close()

    def _missing(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return the distinct pairs that are neither known nor on their way, after a look at the disk."""
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._known and pair not in self._flying]
        disk = self._store() if unknown else None
        if disk is None:
            return unknown
        keys = {pair: _digest(pair) for pair in unknown}
        kept = disk.read(list(keys.values()))
        self._known.update({pair: kept[key] for pair, key in keys.items() if key in kept})
        return [pair for pair in unknown if pair not in self._known]

    def _learn(self, pairs: Sequence[Pair], given: Any) -> None:
        """Keep what the instrument made of pairs."""
        rows = np.asarray(given, dtype=np.float64)
        if rows.shape != (len(pairs), 3) or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3):
            raise ScoringError("gave no distribution over three classes", where=self.name)
        made = dict(zip(pairs, rows.astype(np.float32), strict=True))
        disk = self._store()
        if disk is not None:
            disk.write({_digest(pair): row for pair, row in made.items()})
        self._known |= made

    def _await(self, pairs: Sequence[Pair], made: Awaitable[Any]) -> None:
        """Set out for pairs; who asks for one of them meanwhile waits for the same."""
        flight = asyncio.ensure_future(self._land(pairs, made))
        self._flying.update(dict.fromkeys(pairs, flight))
        flight.add_done_callback(partial(self._landed, pairs))

    async def _land(self, pairs: Sequence[Pair], made: Awaitable[Any]) -> None:
        rows = await made
        with self._lock:
            self._learn(pairs, rows)

    def _landed(self, pairs: Sequence[Pair], flight: asyncio.Future[None]) -> None:
        for pair in pairs:
            self._flying.pop(pair, None)
        if not flight.cancelled():
            flight.exception()  # seen, also where every asker was cancelled

    async def _later(self, pairs: Sequence[Pair], flying: Collection[asyncio.Future[None]]) -> np.ndarray:
        await asyncio.gather(*(asyncio.shield(flight) for flight in flying))
        return self._rows(pairs)

    def _rows(self, pairs: Sequence[Pair]) -> np.ndarray:
        if not pairs:
            return np.zeros((0, 3))
        return np.stack([self._known[pair] for pair in pairs]).astype(np.float64)

    def _store(self) -> VectorCache | None:
        """Open the store at the first prediction: the full name of the instrument needs its weights."""
        if not self._opened:
            self._opened = True
            if self._options is not None and self._options.persist and not getattr(self._inner, "cheap", False):
                self._disk = VectorCache(self._options.folder / "entailment.sqlite", self.name, 3)
        return self._disk


def _digest(pair: Pair) -> str:
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
