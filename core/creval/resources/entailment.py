"""The cache of an entailment model's verdicts, and what asking a role for one takes."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import threading
from collections.abc import Awaitable, Collection, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from creval.errors import ScoringError
from creval.resources.resource_options import ResourceOptions
from creval.resources.vector_cache import VectorCache
from creval.types.components import Entailment
from creval.types.messages import Message, Reply
from creval.types.sample import SampleKey

__all__ = ["CALLS_A_PAIR", "PROMPT_BYTES", "Asker", "CachedEntailment"]

CALLS_A_PAIR = (1, 2)
"""The fewest and the most calls of `entailment=role/...` for a pair of texts."""
PROMPT_BYTES = 338
"""Its prompt without the two texts."""

Pair = tuple[str, str]


class Asker(Protocol):
    """What asks a role and keeps its answers: a task's context, or a workbench."""

    async def ask(
        self, role: str, messages: Sequence[Message], key: SampleKey, draw: int = 0, **settings: Any
    ) -> Reply: ...

    def unreadable(self, reply: Reply, reason: str) -> None: ...


class CachedEntailment:
    """An `Entailment` around another one. `name` is the resource's full name. Safe for several threads.

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
        """How many classes the model distinguishes: 3, or 2 (what does not entail stands as neutral)."""
        return int(getattr(self._inner, "classes", 3))

    def bound(self, asker: Asker, task: str) -> CachedEntailment:
        """Return what judges on behalf of a task: itself, unless a role answers, whose model is the task's own."""
        bind = getattr(self._inner, "bound", None)
        return self if bind is None else CachedEntailment(bind(asker, task), self._spec, self._options)

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray | Awaitable[np.ndarray]:
        """Return (entailment, neutral, contradiction) for each (premise, hypothesis); shape (n, 3).

        What comes back has to be awaited where the resource asks others. Raises ScoringError where it gives something
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
        """Keep what the resource made of pairs."""
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
        """Open the store at the first prediction: the full name of the resource needs its weights."""
        if not self._opened:
            self._opened = True
            if self._options is not None and self._options.persist and not getattr(self._inner, "cheap", False):
                self._disk = VectorCache(self._options.folder / "entailment.sqlite", self.name, 3)
        return self._disk


def _digest(pair: Pair) -> str:
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
