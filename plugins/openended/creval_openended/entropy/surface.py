"""Diversity of candidates by their words (self-BLEU and distinct-n) and by their vectors (mean cosine).

Source: paper 004, Section 5 and Appendix C.3; the recipe that the paper leaves open is ours (docs/openended.md):
BLEU-4 with uniform weights, smoothed as by NLTK's method 1, words split at white space, lower case; distinct-n pooled
over a step.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["distinct", "mean_cosine", "self_bleu", "self_bleu_of_steps", "words_of"]

_LONGEST = 4
_SMOOTHING = 0.1
"""NLTK's method 1: the count in place of 0 if no n-gram is in common."""
_MOST_KINDS = 2**62

Ints = npt.NDArray[np.int64]


def words_of(text: str) -> list[str]:
    """Return the words of a text as these measures split it."""
    return text.lower().split()


def self_bleu(texts: Sequence[str]) -> float | None:
    """Return the mean BLEU-4 of each text against all others (0 to 1; high: alike). None for fewer than two texts."""
    return self_bleu_of_steps([texts])[0]


def self_bleu_of_steps(steps: Sequence[Sequence[str]]) -> list[float | None]:
    """Return `self_bleu` of the texts of each step; all steps are counted together, which is faster."""
    found: list[float | None] = [None] * len(steps)
    numbers = [number for number, texts in enumerate(steps) if len(texts) > 1]
    if not numbers:
        return found
    tokens = [[words_of(text) for text in steps[number]] for number in numbers]
    sizes = [len(texts) for texts in tokens]
    lengths = np.array([len(words) for texts in tokens for words in texts])
    matches, totals = _matches(tokens, lengths)
    logs = np.log(np.where(matches > 0, matches, _SMOOTHING) / np.maximum(totals, 1)).sum(axis=0)
    scores = _brevity(lengths, np.repeat(np.arange(len(sizes)), sizes)) * np.exp(logs / _LONGEST)
    sums = np.add.reduceat(np.where(matches[0] > 0, scores, 0.0), np.cumsum([0, *sizes[:-1]]))
    for number, total, size in zip(numbers, sums.tolist(), sizes, strict=True):
        found[number] = total / size
    return found


def _matches(tokens: Sequence[Sequence[Sequence[str]]], lengths: Ints) -> tuple[Ints, Ints]:
    """Return two arrays (n, text): clipped n-gram matches with another text of the step, and all n-grams."""
    coded: list[int] = []
    vocabulary = 0
    for step in tokens:
        codes = defaultdict[str, int](itertools.count(vocabulary).__next__)  # each step has separate codes
        coded += [codes[word] for text in step for word in text]
        vocabulary += len(codes)
    n_texts = len(lengths)
    owners = np.repeat(np.arange(n_texts), lengths)
    keys = np.concatenate(list(_keys(np.array(coded, dtype=np.int64), owners, vocabulary + 1, n_texts)))
    found, counts = np.unique(keys, return_counts=True)
    grams, texts = found // n_texts, found % n_texts
    order = np.lexsort((-counts, grams))  # by n-gram, and the text that has it most often first
    grams, texts, counts = grams[order], texts[order], counts[order]
    first = np.flatnonzero(np.diff(grams, prepend=-1))
    sizes = np.diff(first, append=len(grams))
    second = np.where(sizes > 1, counts[np.minimum(first + 1, max(0, len(counts) - 1))], 0)
    most = np.repeat(counts[first], sizes)
    most[first] = second  # that text is compared with the others
    cells = (grams % _LONGEST) * n_texts + texts
    shape = (_LONGEST, n_texts)
    shared = np.bincount(cells, np.minimum(counts, most), minlength=_LONGEST * n_texts)
    totals = np.maximum(lengths - np.arange(_LONGEST)[:, None], 0)
    return shared.astype(np.int64).reshape(shape), totals


def _keys(words: Ints, owners: Ints, vocabulary: int, texts: int) -> Iterator[Ints]:
    """Yield for each n one number per occurrence of an n-gram; it encodes the n-gram, n and its text."""
    grams, kinds = words, vocabulary
    for n in range(_LONGEST):
        if n:
            grams, kinds = grams[:-1] * vocabulary + words[n:], kinds * vocabulary
        if kinds > _MOST_KINDS // (_LONGEST * texts * vocabulary):
            grams, kinds = np.unique(grams, return_inverse=True)[1], len(grams) + 1
        within = owners[: len(grams)] == owners[n:]
        yield ((grams * _LONGEST + n) * texts + owners[: len(grams)])[within]


def _brevity(lengths: Ints, steps: Ints) -> npt.NDArray[np.float64]:
    """Return each text's BLEU brevity penalty against the text of its step nearest in length (on a tie the shorter)."""
    apart = lengths + steps * (3 * int(lengths.max()) + 1)  # texts of other steps are never the nearest
    order = np.sort(apart)
    left, right = np.searchsorted(order, apart), np.searchsorted(order, apart, side="right")
    below = np.where(left > 0, order[np.maximum(left - 1, 0)], -np.inf)
    above = np.where(right < len(order), order[np.minimum(right, len(order) - 1)], np.inf)
    nearest = np.where(apart - below <= above - apart, below, above)
    short = np.where(right - left > 1, 0.0, np.maximum(nearest - apart, 0.0))  # number of missing words
    return np.exp(-short / np.maximum(lengths, 1))


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
