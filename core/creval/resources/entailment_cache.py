"""Judges each distinct pair of texts once a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from creval.errors import ScoringError
from creval.types.components import Entailment

__all__ = ["CachedEntailment"]


class CachedEntailment:
    """An `Entailment` around another one. `name` is the instrument's full name. Safe for several threads."""

    def __init__(self, inner: Entailment, spec: str) -> None:
        self._inner = inner
        self.name: str = str(getattr(inner, "name", spec))
        self._known: dict[tuple[str, str], np.ndarray] = {}
        self._lock = threading.Lock()

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (entailment, neutral, contradiction) for each (premise, hypothesis); shape (n, 3).

        Raises ScoringError where the model gives something that is no distribution.
        """
        with self._lock:
            missing = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            if missing:
                rows = np.asarray(self._inner.predict(missing), dtype=np.float64)
                if rows.shape != (len(missing), 3) or not np.allclose(rows.sum(axis=1), 1.0, atol=1e-3):
                    raise ScoringError("gave no distribution over three classes", where=self.name)
                self._known.update(zip(missing, rows, strict=True))
            if not pairs:
                return np.zeros((0, 3))
            return np.stack([self._known[pair] for pair in pairs])
