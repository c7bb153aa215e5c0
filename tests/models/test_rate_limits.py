"""While a provider answers nothing but 429, one call at a time probes and the others wait without spending tries."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from support.chat_server import ChatServer, HttpError
from support.virtual_time import LoopClock, run_virtual

from creval.engine.progress.progress_counts import Counting
from creval.errors import FatalModelError, ModelError, RetryableModelError
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool, RateLimitNews
from creval.models.model import Model, ModelParts
from creval.models.model_options import ModelSpec
from creval.models.open_model import open_model
from creval.models.provider_traits import ProviderTraits
from creval.models.retries import RetryPolicy
from creval.types.messages import Completion, GenerateRequest, Reply

Fate = Callable[[float, int], float | Exception | None]
"""Seconds since the start, number of the call -> what it gets: None an answer, a number 429 and this wait (0: none)."""


class Service:
    """A provider in virtual time that notes when each call begins and how many are in flight."""

    def __init__(self, fate: Fate, seconds: float = 0.2) -> None:
        self.fate = fate
        self.seconds = seconds
        self.starts: list[float] = []
        self.in_flight: list[int] = []
        self._now = 0

    async def generate(self, request: GenerateRequest) -> Reply:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        self.starts.append(begun)
        self._now += 1
        self.in_flight.append(self._now)
        try:
            fate = self.fate(begun, len(self.starts))
            await asyncio.sleep(self.seconds if fate is None else 0.05)
            if isinstance(fate, Exception):
                raise fate
            if fate is not None:
                raise RetryableModelError("busy", http_status=429, retry_after=fate or None)
            return Reply((Completion("hi"),))
        finally:
            self._now -= 1

    async def close(self) -> None:
        pass


def made(service: Service, concurrency: int = 32, wait: float = 600.0, **policy: Any) -> tuple[Model, LimiterPool]:
    retries = RetryPolicy(**{"max_retries": 6, "rate_limit_wait": wait, "random": random.Random(1), **policy})
    pool = LimiterPool(LoopClock())
    parts = ModelParts(
        provider=service,
        traits=ProviderTraits(),
        limiter=pool.get("acme", None, concurrency, retries),
        budget=Budget(),
        retries=retries,
        clock=LoopClock(),
    )
    return Model(ModelSpec.parse("acme/m"), parts), pool


def asked(service: Service, calls: int, ask: Any, **how: Any) -> tuple[list[Any], Model]:
    """Ask so many questions at once; returns what came of each."""
    model, _ = made(service, **how)

    async def go() -> list[Any]:
        return await asyncio.gather(*(model.generate(ask(doc=str(i))) for i in range(calls)), return_exceptions=True)

    return run_virtual(go()), model


@pytest.mark.parametrize("window", [0.5, 5.0, 55.0, 300.0, 550.0])
@pytest.mark.parametrize("calls", [1, 30, 200])
def test_a_window_without_a_named_wait_loses_no_sample(ask: Any, window: float, calls: int) -> None:
    service = Service(lambda now, _: 0 if now < window else None)
    results, model = asked(service, calls, ask)
    assert [reply.text for reply in results] == ["hi"] * calls
    first_wave, probes = min(calls, 32), 20
    assert len(service.starts) <= calls + first_wave + probes
    assert (model.stats().errors, model.stats().in_flight) == (0, 0)


def test_one_probe_at_a_time_with_growing_delays(ask: Any) -> None:
    service = Service(lambda now, _: 0 if now < 100 else None)
    asked(service, 30, ask)
    waiting = [(now, count) for now, count in zip(service.starts, service.in_flight, strict=True) if 0 < now < 100]
    assert all(count == 1 for _, count in waiting)
    gaps = [b - a for (a, _), (b, _) in itertools.pairwise(waiting)]
    assert 5 <= len(gaps) <= 8 and gaps[-1] > 8 * gaps[0]


def test_a_named_wait_is_followed(ask: Any) -> None:
    service = Service(lambda now, _: 34.0 if now < 34 else None)
    results, _ = asked(service, 30, ask)
    assert all(isinstance(each, Reply) for each in results)
    assert len(service.starts) <= 60
    assert min(now for now in service.starts if now > 0) == pytest.approx(34.05)


def test_after_the_limit_all_calls_fail_at_once_with_one_message(ask: Any) -> None:
    service = Service(lambda *_: 0)
    results, model = asked(service, 30, ask)
    assert len({str(error) for error in results}) == 1
    assert all(isinstance(error, FatalModelError) and error.closed for error in results)
    assert "429" in str(results[0]) and "10 min" in str(results[0]) and "--rate-limit-wait" in str(results[0])
    assert 595 <= service.starts[-1] <= 601
    assert len(service.starts) <= 30 + 20
    before = len(service.starts)

    async def again() -> None:
        with pytest.raises(FatalModelError, match="429"):
            await model.generate(ask(doc="late"))

    run_virtual(again())
    assert len(service.starts) == before


def test_a_limit_that_comes_back_is_waited_for_each_time(ask: Any) -> None:
    """Ten calls per minute: no sample is lost, and not many calls are refused."""

    def fate(now: float, _: int) -> float | None:
        minute = int(now // 60)
        taken[minute] = taken.get(minute, 0) + 1
        return None if taken[minute] <= 10 else 0

    taken: dict[int, int] = {}
    service = Service(fate)
    results, _ = asked(service, 100, ask)
    assert all(isinstance(each, Reply) for each in results)
    assert len(service.starts) <= 100 + 32 + 10 * 20


def test_a_probe_that_answers_slowly_lets_others_in(ask: Any) -> None:
    """A refusal comes at once; a model that thinks for ten minutes must not be asked one call at a time."""
    service = Service(lambda now, _: 0 if now < 3 else None, seconds=600.0)
    results, _ = asked(service, 8, ask)
    assert all(isinstance(each, Reply) for each in results)
    assert max(service.starts) < 30


def test_a_probe_that_fails_otherwise_spends_a_try_and_probing_continues(ask: Any) -> None:
    def fate(now: float, number: int) -> float | Exception | None:
        if now < 20:
            return 0 if number <= 4 or number % 2 else RetryableModelError("oops", http_status=500)
        return None

    service = Service(fate)
    results, _ = asked(service, 4, ask)
    assert all(isinstance(each, Reply) for each in results)


def test_answers_that_still_come_end_the_waiting(ask: Any) -> None:
    """Where only some calls are refused, the limit goes down and nobody waits for a probe."""
    service = Service(lambda _, number: 0 if number in (7, 8, 9) else None)
    results, _ = asked(service, 60, ask, concurrency=10)
    assert all(isinstance(each, Reply) for each in results)
    assert max(service.starts) < 10


def test_a_call_that_alone_is_refused_for_ever_is_given_up(ask: Any) -> None:
    """Its question may be larger than all that a minute allows; the others are answered meanwhile."""

    class Picky(Service):
        async def generate(self, request: GenerateRequest) -> Reply:
            self.fate = lambda *_: 0 if request.origin.key.doc == "3" else None
            return await super().generate(request)

    service = Picky(lambda *_: None)
    results, _ = asked(service, 200, ask, concurrency=4)
    assert [i for i, each in enumerate(results) if not isinstance(each, Reply)] == [3]
    assert len(service.starts) < 199 + 40


def test_without_a_wait_each_429_is_a_failed_try(ask: Any) -> None:
    service = Service(lambda *_: 0)
    results, _ = asked(service, 2, ask, wait=0.0, max_retries=3)
    assert all(isinstance(error, RetryableModelError) and "4 tries" in str(error) for error in results)
    assert len(service.starts) == 8


def test_cancelled_probes_leave_no_place_taken(ask: Any) -> None:
    service = Service(lambda now, _: 0 if now < 40 else None)
    model, _ = made(service, concurrency=4)

    async def go() -> Reply:
        tasks = [asyncio.ensure_future(model.generate(ask(doc=str(i)))) for i in range(12)]
        for task in tasks:
            await asyncio.sleep(1.7)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (model.stats().in_flight, model.stats().limit >= 1) == (0, True)
        return await model.generate(ask(doc="last"))

    assert run_virtual(go()).text == "hi"


class _Shown(Counting):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def show_phase(self) -> None:
        pass

    def show(self, now: bool = False) -> None:
        self.lines.append(self.line())


def test_the_progress_says_so(ask: Any) -> None:
    model, pool = made(Service(lambda now, _: 0 if now < 100 else None))
    shown, reported = _Shown(), list[RateLimitNews]()

    def watch(news: RateLimitNews) -> None:
        reported.append(news)
        shown.on_rate_limit(news)

    pool.watch = watch
    run_virtual(model.generate(ask()))
    assert reported[0] == RateLimitNews("acme", 0.0, 600.0)
    assert [news.over for news in reported] == [False] * (len(reported) - 1) + [True]
    assert "acme answers 429: waiting 0:00 of at most 10:00" in shown.lines[0]
    assert "acme answers 429: waiting 1:" in shown.lines[-2] and "429" not in shown.lines[-1]


def test_against_a_real_server(registry: Any, ask: Any, fast: Any) -> None:
    """No Retry-After, a window of half a second, thirty calls at once and only one further try each."""
    import time

    begun: list[float] = []

    def limited(request: Any) -> HttpError | None:
        begun.append(time.monotonic())
        return HttpError(429, {"message": "slow down"}) if begun[-1] - begun[0] < 0.5 else None

    with ChatServer(limited, answer="hi") as server:
        options = dataclasses.replace(fast, base_url=server.url, max_retries=1, backoff_base=0.05, backoff_cap=0.2)
        model = open_model("openai/m", registry, options)

        async def go() -> list[Reply | ModelError]:
            try:
                return await asyncio.gather(*(model.generate(ask(doc=str(i))) for i in range(30)))
            finally:
                await model.close()

        results = asyncio.run(go())
    assert [reply.text for reply in results] == ["hi"] * 30
    assert len(begun) <= 30 + 30 + 20
