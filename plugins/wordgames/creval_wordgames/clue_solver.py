"""Chance and best play of the clue game, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import comb
from typing import Any

import numpy as np

__all__ = ["chance_all", "chance_share", "is_legal", "reaches", "vocabulary"]


def chance_all(own: int, others: int, number: int) -> float:
    """Return the probability that `number` different words drawn from the board are all own words."""
    return comb(own, number) / comb(own + others, number)


def chance_share(own: int, others: int, number: int) -> float:
    """Return the mean share of `number` words, drawn in turn, that come before the first one that is not own."""
    return sum(chance_all(own, others, k) for k in range(1, number + 1)) / number


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words that a baseline may give as clues."""
    return tuple((files("creval_wordgames") / "data/vocabulary.txt").read_text(encoding="utf-8").split())


def is_legal(clue: str, board: Sequence[str]) -> bool:
    """Return whether a clue is one word that contains no word of the board and is in none."""
    word = clue.casefold()
    return word.isalpha() and not any(word in each.casefold() or each.casefold() in word for each in board)


def reaches(embedding: Any, clues: Sequence[str], own: Sequence[str], others: Sequence[str]) -> list[int]:
    """Return, per clue, the number of own words nearer to it, by cosine, than the nearest of the other words.

    A guesser that names words in order of nearness finds this many before the first wrong one; ties count as wrong.
    """
    units = [_units(embedding, words) for words in (clues, own, others)]
    nearest = (units[0] @ units[2].T).max(axis=1, keepdims=True)
    return [int(count) for count in (units[0] @ units[1].T > nearest).sum(axis=1)]


def _units(embedding: Any, words: Sequence[str]) -> np.ndarray:
    rows = np.asarray(embedding.embed(list(words)), dtype=np.float64)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
