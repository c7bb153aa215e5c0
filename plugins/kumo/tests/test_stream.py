"""The random stream: the same numbers everywhere, uniform, nothing drawn twice."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval_kumo.games.stream import Stream


def test_the_numbers_are_those_of_sha512_in_counter_mode() -> None:
    """Written out once more, so that no change of the code can go unnoticed."""
    key = hashlib.sha256(b"a\x1f7").digest()
    blocks = [hashlib.sha512(key + counter.to_bytes(8, "big")).digest() for counter in (0, 1)]
    words = [int.from_bytes(block[place : place + 8], "big") for block in blocks for place in range(56, -1, -8)]
    stream = Stream("a", 7)
    assert [stream.below(2**64) for _ in range(16)] == words
    assert [Stream("kumo", 1).below(1000) for _ in range(2)] == [Stream("kumo", 1).below(1000)] * 2


def test_words_are_kept_apart() -> None:
    draws = {Stream(*words).below(2**64) for words in [("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ("a",)]}
    assert len(draws) == 5


@pytest.mark.parametrize("n", [3, 5, 6, 7, 1000, 2**63 + 1])
def test_what_would_favour_small_numbers_is_drawn_again(n: int) -> None:
    """2^64 is no multiple of n: the numbers above the last whole share are rejected, those below it are not."""
    limit = 2**64 - 2**64 % n
    stream = Stream("x")
    stream._pool = [11, limit, 2**64 - 1]
    assert stream.below(n) == 11 % n
    stream._pool = [11, limit - 1]
    assert stream.below(n) == n - 1


def test_all_numbers_come_as_often() -> None:
    stream = Stream("uniform")
    counts = Counter(stream.below(6) for _ in range(6000))
    assert sum((counts[n] - 1000) ** 2 / 1000 for n in range(6)) < 20.5  # chi-square, 5 degrees, p = 0.001


def test_orders_come_as_often() -> None:
    stream = Stream("orders")
    counts = Counter(tuple(stream.shuffled("abc")) for _ in range(6000))
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5 and len(counts) == 6


@given(st.lists(st.integers(), max_size=30), st.integers(0, 1000))
def test_shuffling_and_sampling_lose_and_double_nothing(items: list[int], seed: int) -> None:
    assert Counter(Stream(seed).shuffled(items)) == Counter(items)
    places = Stream(seed).sample(range(len(items)), len(items) // 2)
    assert len(set(places)) == len(items) // 2


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.integers(0, 100))
def test_floats_stay_inside(lo: float, width: float, seed: int) -> None:
    assert lo <= Stream(seed).uniform(lo, lo + width) <= lo + width
