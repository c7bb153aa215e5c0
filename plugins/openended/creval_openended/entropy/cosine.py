"""Entailment `cosine/0.85`: two texts "entail" each other if the cosine of their sentence vectors is that high.

It is not entailment: it is symmetric. It exists so that everything can be tried offline, under a separate name
(`semantic_entropy[cosine/0.85]`), and is never a default. `cosine/0.85/sentence-transformers/all-mpnet-base-v2` names
another encoder than `embedded/minilm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import creval
from creval.plugin import ResourceOptions, UsageError
from creval_analyses.workbench import Workbench

__all__ = ["CosineEntailment", "open_cosine"]

_ENCODER = "embedded/minilm"


def open_cosine(model: str, options: ResourceOptions) -> CosineEntailment:
    """Open `cosine/<threshold>[/<embedding>]`. Raises UsageError, and the errors of opening the embedding."""
    number, _, encoder = model.partition("/")
    try:
        threshold = float(number)
    except ValueError:
        threshold = -1.0
    if not 0 < threshold <= 1:
        raise UsageError(
            f"{number!r} is not a threshold",
            where=f"cosine/{model}",
            fix="Write a number above 0, up to 1: cosine/0.85.",
        )
    bench = Workbench(creval.RunOptions(offline=options.offline, cache_folder=options.cache))
    return CosineEntailment(threshold, bench.resource("embedding", encoder or _ENCODER))


class CosineEntailment:
    """Entailment by a threshold on the cosine of two texts' vectors."""

    def __init__(self, threshold: float, embedding: Any) -> None:
        self._threshold = threshold
        self._embedding = embedding
        self.name = f"cosine/{threshold:g}/{embedding.name}"

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return (1, 0, 0) for pairs that are close enough and (0, 1, 0) for others; shape (n, 3)."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        rows = np.zeros((len(pairs), 3))
        if not texts:
            return rows
        vectors = self._embedding.embed(texts)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        place = {text: index for index, text in enumerate(texts)}
        first = vectors[[place[premise] for premise, _ in pairs]]
        second = vectors[[place[hypothesis] for _, hypothesis in pairs]]
        close = np.einsum("ij,ij->i", first, second) >= self._threshold
        rows[close, 0], rows[~close, 1] = 1.0, 1.0
        return rows
