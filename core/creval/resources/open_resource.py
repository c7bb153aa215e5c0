"""Opens the resource that a task names (`embedding: sentence-transformers/all-mpnet-base-v2`).

Each distinct text is embedded and each distinct pair judged once: results are cached in memory within a run, and on
disk across runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
import threading
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast, get_args

import numpy as np

from creval.errors import MissingPartError, PluginError, ScoringError, UnknownNameError, UsageError
from creval.plugins.distributions import absent_distribution
from creval.plugins.registry import Component, Registry
from creval.resources.resource_options import ResourceOptions
from creval.types.components import Embedding, Entailment
from creval.types.kinds import Kind
from creval.types.messages import Message, Reply
from creval.types.sample import SampleKey

__all__ = [
    "CALLS_A_PAIR",
    "PROMPT_BYTES",
    "RESOURCE_KINDS",
    "Asker",
    "CachedEmbedding",
    "CachedEntailment",
    "open_resource",
    "resolve",
]

CALLS_A_PAIR = (1, 2)
"""The fewest and the most calls of `entailment=role/...` per pair of texts."""
PROMPT_BYTES = 338
"""Its prompt without the two texts."""
_KEPT_IN_MEMORY = 100_000
_log = logging.getLogger(__name__)


class VectorCache(Protocol):
    """Vectors of texts on disk; creval-encoders has it."""

    def read(self, texts: Sequence[str]) -> dict[str, np.ndarray]: ...
    def write(self, vectors: Mapping[str, np.ndarray]) -> None: ...
    def close(self) -> None: ...


def _open_cache(path: Path, resource: str, dimension: int) -> VectorCache | None:
    if find_spec("creval_encoders") is None:
        _log.warning("%s: results are not kept across runs: pip install creval-encoders", resource)
        return None
    cache: VectorCache = import_module("creval_encoders.vector_cache").VectorCache(path, resource, dimension)
    return cache


class CachedEmbedding:
    """An `Embedding` around another one. Safe to use from several threads.

    Texts are embedded in batches and stored in `<cache>/embeddings.sqlite` under the full resource name, so that
    another revision or checksum never gets these vectors. An embedding with a very fast look-up (word vectors) has an
    attribute `cheap = True` and is not stored on disk.
    """

    def __init__(self, inner: Embedding, options: ResourceOptions) -> None:
        self._inner = inner
        self._batch = max(1, options.batch_size)
        self._lock = threading.Lock()
        self._known: dict[str, np.ndarray] = {}
        self._disk: VectorCache | None = None
        if options.persist and not getattr(inner, "cheap", False):
            self._disk = _open_cache(options.folder / "embeddings.sqlite", inner.name, inner.dimension)
        self.embedded = 0  # texts that the inner embedding has embedded

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    @property
    def inner(self) -> Embedding:
        """The embedding behind the cache."""
        return self._inner

    def has(self, text: str) -> bool:
        """Whether the text has a vector."""
        return bool(text) and (text in self._known or self._inner.has(text))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension).

        Raises ScoringError for an empty text, a text without a vector, or a vector that is not finite.
        """
        with self._lock:
            distinct = list(dict.fromkeys(texts))
            vectors = {text: self._known[text] for text in distinct if text in self._known}
            missing = [text for text in distinct if text not in vectors]
            if missing:
                found = self._look_up(missing)
                vectors.update(found)
                self._remember(found)
            if not texts:
                return np.zeros((0, self.dimension), dtype=np.float32)
            return np.stack([vectors[text] for text in texts])

    def close(self) -> None:
        """Close the store on disk, and the inner embedding if it can be closed."""
        if self._disk is not None:
            self._disk.close()
        close = getattr(self._inner, "close", None)
        if close is not None:
            close()

    def _look_up(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return vectors that are not in memory: from disk, else made and stored, batch by batch."""
        if not all(texts):
            raise ScoringError("an empty text has no vector", where=self.name)
        found = self._disk.read(texts) if self._disk is not None else {}
        for batch in _batches([text for text in texts if text not in found], self._batch):
            made = self._make(batch)
            if self._disk is not None:
                self._disk.write(made)
            found.update(made)
        return found

    def _make(self, batch: Sequence[str]) -> dict[str, np.ndarray]:
        rows = np.asarray(self._inner.embed(batch), dtype=np.float32)
        if rows.shape != (len(batch), self.dimension):
            raise ScoringError(f"returned vectors of shape {rows.shape} for {len(batch)} texts", where=self.name)
        if not np.isfinite(rows).all():
            bad = batch[int(np.argmin(np.isfinite(rows).all(axis=1)))]
            raise ScoringError(f"the vector of {bad!r} is not finite", where=self.name)
        self.embedded += len(batch)
        return {text: rows[i] for i, text in enumerate(batch)}

    def _remember(self, vectors: dict[str, np.ndarray]) -> None:
        if len(self._known) + len(vectors) > _KEPT_IN_MEMORY:
            self._known.clear()
        self._known.update(vectors)


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    # Texts of similar length go together: a batch is padded to its longest.
    ordered = sorted(texts, key=len)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


Pair = tuple[str, str]


class Asker(Protocol):
    """Asks a role and stores its answers: a task's context, or a workbench."""

    async def ask(
        self, role: str, messages: Sequence[Message], key: SampleKey, draw: int = 0, **settings: Any
    ) -> Reply: ...

    def unreadable(self, reply: Reply, reason: str) -> None: ...


class CachedEntailment:
    """An `Entailment` around another one. `name` is the resource's full name. Safe for several threads.

    Probabilities are stored in `<cache>/entailment.sqlite` under the full name, by digests of the texts and as float32,
    so stored values equal new ones. A resource that costs nothing, or is stored elsewhere, has an attribute `cheap =
    True`. Pairs that are being judged asynchronously are not judged again.
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
        """The number of classes that the model distinguishes: 3, or 2 (everything but entailment is neutral)."""
        return int(getattr(self._inner, "classes", 3))

    def bound(self, asker: Asker, task: str) -> CachedEntailment:
        """Return the resource for a task: itself, unless a role answers, whose model depends on the task."""
        bind = getattr(self._inner, "bound", None)
        return self if bind is None else CachedEntailment(bind(asker, task), self._spec, self._options)

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray | Awaitable[np.ndarray]:
        """Return (entailment, neutral, contradiction) for each (premise, hypothesis); shape (n, 3).

        Await the result if the resource asks models. Raises ScoringError if the result is not a distribution, or if a
        pair is too long.
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
        """Return the distinct pairs that are neither known, nor on disk, nor being judged."""
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._known and pair not in self._flying]
        disk = self._store() if unknown else None
        if disk is None:
            return unknown
        keys = {pair: _digest(pair) for pair in unknown}
        kept = disk.read(list(keys.values()))
        self._known.update({pair: kept[key] for pair, key in keys.items() if key in kept})
        return [pair for pair in unknown if pair not in self._known]

    def _learn(self, pairs: Sequence[Pair], given: Any) -> None:
        """Store the resource's results for pairs."""
        rows = np.asarray(given, dtype=np.float64)
        if rows.shape != (len(pairs), 3) or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3):
            raise ScoringError("returned no distribution over three classes", where=self.name)
        made = dict(zip(pairs, rows.astype(np.float32), strict=True))
        disk = self._store()
        if disk is not None:
            disk.write({_digest(pair): row for pair, row in made.items()})
        self._known |= made

    def _await(self, pairs: Sequence[Pair], made: Awaitable[Any]) -> None:
        """Start judging pairs; later requests for one of them wait for the same result."""
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
            flight.exception()  # retrieved, even if every asker was cancelled

    async def _later(self, pairs: Sequence[Pair], flying: Collection[asyncio.Future[None]]) -> np.ndarray:
        await asyncio.gather(*(asyncio.shield(flight) for flight in flying))
        return self._rows(pairs)

    def _rows(self, pairs: Sequence[Pair]) -> np.ndarray:
        if not pairs:
            return np.zeros((0, 3))
        return np.stack([self._known[pair] for pair in pairs]).astype(np.float64)

    def _store(self) -> VectorCache | None:
        """Open the store at the first prediction, as the resource's full name depends on its weights."""
        if not self._opened:
            self._opened = True
            if self._options is not None and self._options.persist and not getattr(self._inner, "cheap", False):
                self._disk = _open_cache(self._options.folder / "entailment.sqlite", self.name, 3)
        return self._disk


def _digest(pair: Pair) -> str:
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()


RESOURCE_KINDS: tuple[Kind, ...] = ("embedding", "entailment", "sandbox", "wordlist")


def resolve(name: str, spec: str, registry: Registry) -> tuple[Component, str]:
    """Return the component behind a resource and the rest of its specification.

    `name` is the kind, or the task's own name for the resource; then the kind is that of the only component named by
    the first part of `spec`. Imports nothing, so that a plan can check it. Raises UnknownNameError (with the nearest
    names), MissingPartError if the distribution is not installed, or UsageError if two kinds have the component.
    """
    first, _, rest = spec.partition("/")
    kinds = (cast(Kind, name),) if name in get_args(Kind) else RESOURCE_KINDS
    found = [component for kind in kinds if (component := _find(kind, first, registry)) is not None]
    where = f"resource {name}={spec}"
    if not found:
        _demand_installed(kinds, first, where)
        known = [known_name for kind in kinds for known_name in registry.names(kind)]
        raise UnknownNameError(
            "resource", first, known, where=where, hint="`creval plugins` lists the resources of every plugin."
        )
    if len(found) > 1:
        kinds_found = " and ".join(component.kind for component in found)
        raise UsageError(
            f"{first!r} is a component of the kinds {kinds_found}",
            where=where,
            fix=f"Call the resource by its kind in the task, e.g. `{found[0].kind}: {spec}`.",
        )
    return found[0], rest


def _find(kind: Kind, name: str, registry: Registry) -> Component | None:
    try:
        return registry.get(kind, name)
    except UnknownNameError:
        return None


def _demand_installed(kinds: tuple[Kind, ...], name: str, where: str) -> None:
    for kind in kinds:
        distribution = absent_distribution(kind, name)
        if distribution is not None:
            what = f"the {kind} {name!r} is part of {distribution}, which is not installed"
            raise MissingPartError(what, where=where, fix=f"pip install {distribution}")


def open_resource(name: str, spec: str, registry: Registry, options: ResourceOptions) -> Any:
    """Open a resource.

    `name` is its kind or the task's name for it, `spec` is `"<component>/<rest>"`. The component's factory is
    called with `model=<rest>, options=options`. An embedding is returned with a cache: each distinct text is embedded
    once per run, in batches, and stored across runs (see `creval.resources.open_resource`); likewise, each distinct
    pair is judged once.

    Raises UnknownNameError, UsageError, MissingPartError (a package or model is absent), PluginError (the factory does
    not return a resource of its kind).
    """
    component, rest = resolve(name, spec, registry)
    opened = component.load()(model=rest, options=options)
    if component.kind == "embedding":
        _demand(component, opened, ("name", "dimension", "has", "embed"))
        return CachedEmbedding(opened, options)
    if component.kind == "entailment":
        _demand(component, opened, ("predict",))
        return CachedEntailment(opened, spec, options)
    if component.kind == "sandbox":
        _demand(component, opened, ("name", "run"))
    return opened


def _demand(component: Component, opened: Any, members: tuple[str, ...]) -> None:
    missing = [member for member in members if not hasattr(opened, member)]
    if missing:
        raise PluginError(
            f"the {component.kind} {component.name!r} returns an object without {', '.join(missing)}",
            where=f"plugin {component.plugin}",
            fix=f"See creval.types.components.{component.kind.capitalize()}.",
        )
