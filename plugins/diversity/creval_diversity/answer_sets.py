"""Scorers of all answers to a doc at once: the number of distinct answers, and their mean distance.

The answers of a model to the same question form a set; if they collapse into one, there is no diversity. The mean
pairwise distance under a sentence embedding is the measure of Zhang et al. 2025 (arXiv:2504.05228, NoveltyBench, counts
distinct classes) and Jiang et al. 2025 (arXiv:2510.22954, Infinity-Chat, average pairwise similarity), with the
task's embedding.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from creval.plugin import Context, MissingScore, Score, ScorerInput, Status

__all__ = ["Distinct", "SetDistance"]

Vectors = np.ndarray[Any, np.dtype[np.float64]]


def _texts(items: Sequence[ScorerInput]) -> list[list[str]]:
    return [[value if isinstance(value, str) else str(value) for value in item.values] for item in items]


@dataclass(frozen=True)
class Distinct:
    """Score `distinct`: a sample's share of the set's number of distinct answers.

    An answer that occurs k times scores 1/k each time, so that the mean over the samples of a doc is the share of
    distinct answers (1: all differ, 1/n: all the same), and the mean over docs is that of these shares. Answers are
    compared after NFC, with runs of blanks as one; `ignore_case` and `ignore_punctuation` ignore letter case and
    punctuation.
    """

    ignore_case: bool = True
    ignore_punctuation: bool = True

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers of one doc under one condition."""
        plain = [[self._plain(text) for text in texts] for texts in _texts(items)]
        counts = Counter(text for texts in plain for text in texts)
        return [
            Score({"distinct": float(np.mean([1.0 / counts[text] for text in texts]))} if texts else {})
            for texts in plain
        ]

    def _plain(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        if self.ignore_punctuation:
            text = "".join(letter for letter in text if not unicodedata.category(letter).startswith("P"))
        return " ".join((text.casefold() if self.ignore_case else text).split())


@dataclass(frozen=True)
class SetDistance:
    """Score `set_distance`: the mean cosine distance (0 to 2) of a sample's answers to all others of its doc.

    The mean over the samples of a doc is the mean distance over all pairs of its answers. A doc with a single parsed
    answer has no pair, and no score.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> list[Score]:
        """Score the answers of one doc under one condition. Raises ScoringError if one has no vector."""
        texts = _texts(items)
        flat = [text for each in texts for text in each]
        if len(flat) < 2:
            lack = MissingScore(Status.UNPARSED, "the doc has one answer that can be read, and no pair")
            return [Score({}, missing={"set_distance": lack}) for _ in items]
        vectors = _unit(np.asarray(context.resource("embedding").embed(flat), dtype=np.float64))
        # The mean distance of a unit vector to all others: 1 - (v . (sum - v)) / (n - 1).
        others = (vectors @ vectors.sum(axis=0) - 1.0) / (len(flat) - 1)
        distances = iter(np.clip(1.0 - others, 0.0, 2.0).tolist())
        return [Score({"set_distance": float(np.mean([next(distances) for _ in each]))}) for each in texts]


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1.0)
