"""The retry policy."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from creval.errors import RetryableModelError
from creval.models.retries import RetryPolicy


def policy(**settings: float) -> RetryPolicy:
    return RetryPolicy(**settings, random=random.Random(1))


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_backoff_is_full_jitter_under_an_exponential_cap(retry: int, seed: int) -> None:
    chosen = RetryPolicy(6, base=1.0, cap=20.0, random=random.Random(seed)).wait(retry, RetryableModelError("x"))
    assert chosen is not None
    assert 0.0 <= chosen <= min(20.0, 2.0 ** (retry - 1))


def test_backoff_fills_its_range() -> None:
    rng = policy(base=1.0, cap=60.0)
    waits = sorted(rng.wait(4, RetryableModelError("x")) or 0.0 for _ in range(400))
    assert waits[0] < 0.4
    assert waits[-1] > 7.6
    assert 3.5 < waits[200] < 4.5


def test_gives_up_after_the_last_retry() -> None:
    assert policy(max_retries=2).wait(2, RetryableModelError("x")) is not None
    assert policy(max_retries=2).wait(3, RetryableModelError("x")) is None
    assert policy(max_retries=0).wait(1, RetryableModelError("x")) is None


def test_retry_after_is_a_lower_bound_and_capped() -> None:
    asked = RetryableModelError("x", retry_after=7.0)
    assert all(7.0 <= (policy(base=1.0).wait(1, asked) or 0.0) <= 8.0 for _ in range(50))
    long = policy(base=1.0, retry_after_cap=30.0).wait(1, RetryableModelError("x", retry_after=86400.0))
    assert long is not None
    assert 30.0 <= long <= 31.0


def test_zero_means_at_once() -> None:
    assert policy().wait(1, RetryableModelError("x", retry_after=0.0)) == 0.0


def test_the_back_off_of_very_many_tries_stays_at_its_cap() -> None:
    policy = RetryPolicy(max_retries=10**6)
    for retry in (1_000, 2_000, 10**6):
        assert 0 <= policy.wait(retry, RetryableModelError("busy")) <= policy.cap
