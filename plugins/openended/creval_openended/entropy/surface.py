"""Diversity of candidates by their words alone: self-BLEU and distinct-n; and by vectors: mean cosine.

Source: paper 004, Section 5 and Appendix C.3; the recipe that the paper leaves open is ours (docs/openended.md):
BLEU-4 with uniform weights, smoothed as by NLTK's method 1, words split at white space, lower case; distinct-n pooled
over a step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

__all__ = ["distinct", "mean_cosine", "self_bleu", "words_of"]

_LONGEST = 4
_SMOOTHING = 0.1
"""NLTK's method 1: what stands for no n-gram in common."""

Gram = tuple[str, ...]
Most = dict[Gram, tuple[int, int, int]]


def words_of(text: str) -> list[str]:
    """Return the words of a text as these measures see them."""
    return text.lower().split()


def self_bleu(texts: Sequence[str]) -> float | None:
    """Return the mean BLEU-4 of each text against all others (0 to 1; high: alike). None for fewer than two."""
    if len(texts) < 2:
        return None
    tokens = [words_of(text) for text in texts]
    counts = [[_grams(words, n) for n in range(1, _LONGEST + 1)] for words in tokens]
    most = [_two_most([each[n] for each in counts]) for n in range(_LONGEST)]
    lengths = [len(words) for words in tokens]
    return float(np.mean([_bleu(index, counts[index], most, lengths) for index in range(len(tokens))]))


def _grams(words: Sequence[str], n: int) -> Counter[Gram]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _two_most(counts: Sequence[Counter[Gram]]) -> Most:
    """Return of each n-gram: how often it occurs at most in one text, in which one, and at most in any other."""
    found: Most = {}
    for text, each in enumerate(counts):
        for gram, count in each.items():
            top, where, second = found.get(gram, (0, -1, 0))
            found[gram] = (count, text, top) if count > top else (top, where, max(second, count))
    return found


def _bleu(index: int, grams: Sequence[Counter[Gram]], most: Sequence[Most], lengths: Sequence[int]) -> float:
    """BLEU-4 of one text against all others."""
    logs = 0.0
    for n in range(_LONGEST):
        met = 0
        for gram, count in grams[n].items():
            top, where, second = most[n][gram]
            met += min(count, second if where == index else top)
        if n == 0 and met == 0:
            return 0.0
        logs += math.log((met or _SMOOTHING) / max(1, sum(grams[n].values())))
    length = lengths[index]
    others = (each for other, each in enumerate(lengths) if other != index)
    closest = min(others, key=lambda each: (abs(each - length), each))
    brevity = 1.0 if length > closest else math.exp(1 - closest / length)
    return brevity * math.exp(logs / _LONGEST)


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
