"""The adaptive limiter in virtual time, against providers whose real limit is known."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.virtual_time import LoopClock, run_virtual

from creval.models.limiter import AdaptiveLimiter, LimiterPool

ROUND_TRIP = 0.1


class Service:
    """Answers after a round trip; refuses what comes while `capacity` calls are in flight."""

    def __init__(self, capacity: int, limiter: AdaptiveLimiter) -> None:
        self.capacity = capacity
        self.limiter = limiter
        self.in_flight = self.most = self.refused = self.answered = 0
        self.starts: list[float] = []

    async def call(self, pause: float = 0.0) -> bool:
        slot = await self.limiter.acquire()
        ok = False
        try:
            self.starts.append(asyncio.get_running_loop().time())
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            fits = self.in_flight <= self.capacity
            await asyncio.sleep(ROUND_TRIP)
            self.in_flight -= 1
            ok = fits
            self.answered += ok
            self.refused += not ok
            return ok
        finally:
            self.limiter.release(slot, answered=ok, limited=not ok, pause=0.0 if ok else pause)


def limiter_of(ceiling: int) -> AdaptiveLimiter:
    return AdaptiveLimiter(ceiling, LoopClock())


def test_never_more_in_flight_than_the_ceiling() -> None:
    async def go() -> Service:
        service = Service(1000, limiter_of(7))
        await asyncio.gather(*(service.call() for _ in range(100)))
        return service

    service = run_virtual(go())
    assert (service.most, service.answered) == (7, 100)


def test_a_whole_window_of_429s_halves_the_limit_once() -> None:
    async def go() -> AdaptiveLimiter:
        service = Service(0, limiter_of(64))
        await asyncio.gather(*(service.call() for _ in range(64)))
        return service.limiter

    assert run_virtual(go()).limit == 32


def test_sustained_429_goes_down_to_one_and_never_freezes() -> None:
    async def go() -> Service:
        service = Service(0, limiter_of(64))
        await asyncio.gather(*(service.call() for _ in range(500)))
        return service

    service = run_virtual(go())  # a call that nobody wakes would raise here
    assert service.refused == 500
    assert service.limiter.limit == 1.0
    assert (service.limiter.in_flight, service.limiter.waiting) == (0, 0)


def test_recovers_up_to_the_ceiling_after_sustained_429() -> None:
    async def go() -> AdaptiveLimiter:
        service = Service(0, limiter_of(16))
        await asyncio.gather(*(service.call() for _ in range(100)))
        assert service.limiter.limit == 1.0
        service.capacity = 1000
        await asyncio.gather(*(service.call() for _ in range(1000)))
        return service.limiter

    assert run_virtual(go()).limit == 16.0


def test_rises_by_about_one_a_round_trip() -> None:
    async def go() -> list[float]:
        service = Service(0, limiter_of(32))
        await asyncio.gather(*(service.call() for _ in range(60)))
        service.capacity = 1000
        start = service.limiter.limit
        calls = [asyncio.ensure_future(service.call()) for _ in range(400)]
        seen = [start]
        for _ in range(10):
            await asyncio.sleep(ROUND_TRIP)
            seen.append(service.limiter.limit)
        await asyncio.gather(*calls)
        return seen

    seen = run_virtual(go())
    steps = [after - before for before, after in pairwise(seen)][1:]
    assert all(0.5 <= step <= 1.2 for step in steps), seen


@pytest.mark.parametrize("capacity", [1, 3, 10, 40])
def test_finds_the_capacity_of_a_provider(capacity: int) -> None:
    """With callers that try again until they have an answer, most of the capacity is used and few calls are refused."""
    calls = 60 * capacity

    async def go() -> tuple[Service, float]:
        service = Service(capacity, limiter_of(64))

        async def until_answered() -> None:
            while not await service.call():
                await asyncio.sleep(ROUND_TRIP)

        await asyncio.gather(*(until_answered() for _ in range(calls)))
        return service, asyncio.get_running_loop().time()

    service, seconds = run_virtual(go())
    ideal = calls / capacity * ROUND_TRIP
    assert service.answered == calls
    assert seconds <= 2.2 * ideal
    way_down = 2 * 64  # 64 + 32 + 16 + ... calls find the limit from above
    assert service.refused <= way_down + 0.6 * calls


def test_no_call_begins_before_the_time_that_a_429_names() -> None:
    async def go() -> Service:
        service = Service(0, limiter_of(4))
        first = asyncio.ensure_future(service.call(pause=5.0))
        await asyncio.sleep(ROUND_TRIP / 2)
        await first
        service.capacity = 100
        await asyncio.gather(*(service.call() for _ in range(10)))
        return service

    starts = run_virtual(go()).starts
    assert starts[0] == 0.0
    assert min(starts[1:]) == pytest.approx(ROUND_TRIP + 5.0)


def test_other_errors_leave_the_limit_alone() -> None:
    async def go() -> float:
        limiter = limiter_of(8)
        for _ in range(50):
            slot = await limiter.acquire()
            limiter.release(slot)
        return limiter.limit

    assert run_virtual(go()) == 8.0


def test_calls_are_served_in_the_order_they_came() -> None:
    async def go() -> list[int]:
        limiter, order = limiter_of(2), []

        async def call(i: int) -> None:
            slot = await limiter.acquire()
            order.append(i)
            await asyncio.sleep(ROUND_TRIP)
            limiter.release(slot, answered=True)

        await asyncio.gather(*(call(i) for i in range(20)))
        return order

    assert run_virtual(go()) == list(range(20))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_cancelled_calls_leave_no_place_taken(ceiling: int, seed: int) -> None:
    """Whatever is cancelled and whenever, in the end all places are free and a new call gets one."""

    async def go() -> tuple[int, int]:
        rng = random.Random(seed)
        service = Service(rng.randrange(0, 8), limiter_of(ceiling))
        tasks = [asyncio.ensure_future(service.call(pause=rng.choice([0.0, 0.3]))) for _ in range(30)]
        for _ in range(20):
            await asyncio.sleep(rng.choice([0.0, ROUND_TRIP / 3, ROUND_TRIP]))
            rng.choice(tasks).cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (service.limiter.in_flight, service.limiter.waiting) == (0, 0)
        service.capacity = 100
        service.in_flight = 0
        assert await service.call()
        return service.limiter.in_flight, service.limiter.waiting

    assert run_virtual(go()) == (0, 0)


def test_models_of_one_provider_share_a_limiter() -> None:
    pool = LimiterPool()
    first = pool.get("openai", "https://a/v1", 8)
    assert pool.get("openai", "https://a/v1", 16) is first
    assert first.limit == 16.0
    assert pool.get("openai", "https://b/v1", 8) is not first
    assert pool.get("openrouter", "https://a/v1", 8) is not first
