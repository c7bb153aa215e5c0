"""Diversity of candidates by their words alone: self-BLEU and distinct-n; and by vectors: mean cosine.

Source: paper 004, Section 5 and Appendix C.3; the recipe that the paper leaves open is ours (docs/openended.md): BLEU-4
with uniform weights, NLTK's smoothing method 1, words split at white space, lower case; distinct-n pooled over a step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["distinct", "mean_cosine", "self_bleu", "words_of"]


def words_of(text: str) -> list[str]:
    """Return the words of a text as these measures see them."""
    return text.lower().split()


def self_bleu(texts: Sequence[str]) -> float | None:
    """Return the mean BLEU-4 of each text against all others (0 to 1; high: alike). None for fewer than two."""
    if len(texts) < 2:
        return None
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method1
    tokens = [words_of(text) for text in texts]
    scores = [
        sentence_bleu([*tokens[:i], *tokens[i + 1 :]], tokens[i], smoothing_function=smoothing)
        for i in range(len(tokens))
    ]
    return float(np.mean(scores))


def distinct(texts: Sequence[str], n: int) -> float | None:
    """Return the share of different n-grams among all n-grams of the texts (0 to 1; high: diverse), or None."""
    grams = [tuple(words[i : i + n]) for words in map(words_of, texts) for i in range(len(words) - n + 1)]
    return len(set(grams)) / len(grams) if grams else None


def mean_cosine(vectors: np.ndarray) -> float | None:
    """Return the mean cosine over all pairs of rows (-1 to 1; high: alike). None for fewer than two rows."""
    if len(vectors) < 2:
        return None
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    products = units @ units.T
    above = np.triu_indices(len(units), 1)
    return float(np.clip(products[above].mean(), -1.0, 1.0))
