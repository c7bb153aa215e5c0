"""Judges each distinct pair of texts once: within a run from memory, across runs from disk."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence

import numpy as np

from creval.errors import ScoringError
from creval.resources.options import ResourceOptions
from creval.resources.vector_cache import VectorCache
from creval.types.components import Entailment

__all__ = ["CachedEntailment"]

Pair = tuple[str, str]


class CachedEntailment:
    """An `Entailment` around another one. `name` is the instrument's full name. Safe for several threads.

    Probabilities are kept in `<cache>/entailment.sqlite` under the full name, by digests of the texts and as float32;
    what comes from there equals what was just made. One that costs nothing says so by an attribute `cheap = True`.
    """

    def __init__(self, inner: Entailment, spec: str, options: ResourceOptions | None = None) -> None:
        self._inner = inner
        self._spec = spec
        self._options = options
        self._known: dict[Pair, np.ndarray] = {}
        self._disk: VectorCache | None = None
        self._opened = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return str(getattr(self._inner, "name", self._spec))

    def predict(self, pairs: Sequence[Pair]) -> np.ndarray:
        """Return (entailment, neutral, contradiction) for each (premise, hypothesis); shape (n, 3).

        Raises ScoringError where the model gives something that is no distribution, or a pair is too long for it.
        """
        with self._lock:
            missing = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            if missing:
                self._known.update(self._found(missing))
            if not pairs:
                return np.zeros((0, 3))
            return np.stack([self._known[pair] for pair in pairs]).astype(np.float64)

    def close(self) -> None:
        """Close the store on disk."""
        if self._disk is not None:
            self._disk.close()

    def _found(self, pairs: Sequence[Pair]) -> dict[Pair, np.ndarray]:
        disk = self._store()
        keys = {pair: _digest(pair) for pair in pairs}
        kept = disk.read(list(keys.values())) if disk is not None else {}
        found = {pair: kept[key] for pair, key in keys.items() if key in kept}
        missing = [pair for pair in pairs if pair not in found]
        if missing:
            rows = np.asarray(self._inner.predict(missing), dtype=np.float64)
            if rows.shape != (len(missing), 3) or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3):
                raise ScoringError("gave no distribution over three classes", where=self.name)
            made = dict(zip(missing, rows.astype(np.float32), strict=True))
            if disk is not None:
                disk.write({keys[pair]: row for pair, row in made.items()})
            found |= made
        return found

    def _store(self) -> VectorCache | None:
        """Open the store at the first prediction: the full name of the instrument needs its weights."""
        if not self._opened:
            self._opened = True
            if self._options is not None and self._options.persist and not getattr(self._inner, "cheap", False):
                self._disk = VectorCache(self._options.folder / "entailment.sqlite", self.name, 3)
        return self._disk


def _digest(pair: Pair) -> str:
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
