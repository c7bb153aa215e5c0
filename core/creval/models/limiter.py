"""Limits the calls in flight to a provider: the limit rises slowly, falls fast, and is probed after a 429."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from creval.errors import FatalModelError
from creval.models.retries import Clock, RetryPolicy, SystemClock

__all__ = ["AdaptiveLimiter", "LimiterPool", "RateLimitNews", "Slot"]

_TAKEN_AFTER = 5.0
"""Seconds after which a probe in flight counts as accepted: a 429 comes at once, an answer may take minutes."""


class Slot:
    """One call in flight. `round` is the number of decreases that the limiter had made when the call began.

    `probe`: this call finds out whether the provider still answers 429. `outer`: its slot in the limiter that several
    runs share.
    """

    __slots__ = ("outer", "probe", "round")

    def __init__(self, round_: int, probe: bool = False) -> None:
        self.round = round_
        self.probe = probe
        self.outer: Slot | None = None


class RateLimitNews(NamedTuple):
    """A provider has answered only 429 for `seconds`; after `most` seconds its calls fail. `over`: it answers again."""

    provider: str
    seconds: float
    most: float
    over: bool = False


class AdaptiveLimiter:
    """Additive increase, multiplicative decrease of the calls in flight to one provider.

    The limit starts at `ceiling`, the user's limit. Each answer raises it by 1/limit, i.e. by about 1 per round trip,
    as long as the limit is in use. A 429 halves it, never below 1, and only once per round trip: a 429 to a call that
    began before the last decrease is ignored. After a 429 with a time to wait, no call begins before that time. Calls
    are served in order of arrival.

    With a `policy` whose `rate_limit_wait` is above 0 all calls wait after a 429, except one probe at a time, with
    growing delays or after the time that the provider states, until there is an answer. If there is none for
    `rate_limit_wait` seconds, `acquire` raises FatalModelError.
    """

    def __init__(
        self,
        ceiling: int,
        clock: Clock | None = None,
        policy: RetryPolicy | None = None,
        provider: str = "the provider",
    ) -> None:
        self._ceiling = float(max(1, ceiling))
        self._limit = self._ceiling
        self._clock = clock or SystemClock()
        self._policy = policy
        self._provider = provider
        self._in_flight = 0
        self._round = 0
        self._pause_until = 0.0
        self._pauser: asyncio.Task[None] | None = None
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._refusing_since: float | None = None
        self._probes = 0
        self._probe_out = False
        self._taking: asyncio.Task[None] | None = None
        self._exhausted = False
        self.within: AdaptiveLimiter | None = None
        """The limiter that simultaneous runs share, whose ceiling applies to all of them."""
        self.watch: Callable[[RateLimitNews], None] | None = None

    @property
    def limit(self) -> float:
        return self._limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def patience(self) -> float:
        """The seconds that calls wait for a provider that answers 429; 0: each 429 is a failed try."""
        return self._policy.rate_limit_wait if self._policy is not None else 0.0

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow at least `ceiling` calls at once: another model of the run shares this limiter."""
        if ceiling > self._ceiling:
            self._limit += ceiling - self._ceiling
            self._ceiling = float(ceiling)
            with suppress(IndexError):  # from any thread: another run may be opening
                self._waiting[0].get_loop().call_soon_threadsafe(self._wake)

    async def acquire(self) -> Slot:
        """Wait for a slot. Cancelling the wait takes no slot.

        Raises FatalModelError if the provider has answered 429 for longer than calls wait.
        """
        if self._exhausted:
            raise self._error()
        if self._waiting or not self._free():
            probe = await self._wait()
        else:
            probe = self._take_slot()
        slot = Slot(self._round, probe)
        if self.within is not None:
            try:
                slot.outer = await self.within.acquire()
            except BaseException:
                self.release(slot)
                raise
        return slot

    def release(self, slot: Slot, *, answered: bool = False, limited: bool = False, pause: float = 0.0) -> None:
        """Give the slot back, with the outcome of the call.

        `answered`: the provider answered. `limited`: it answered 429; `pause` is the wait in seconds that it asked for.
        Neither: another error or a cancelled call, which does not affect the limit.
        """
        if self.within is not None and slot.outer is not None:
            self.within.release(slot.outer)
        full = self._in_flight + len(self._waiting) >= self._limit
        self._in_flight -= 1
        self._probe_out = self._probe_out and not slot.probe
        if limited:
            if slot.round == self._round and not slot.probe:
                self._round += 1
                self._limit = max(1.0, self._limit / 2)
            if self.patience > 0:
                self._refused(slot, pause)
            elif pause > 0:
                self._pause_until = max(self._pause_until, self._clock.now() + pause)
        elif answered:
            self._accepted()
            if full and self._limit < self._ceiling:
                self._limit = min(self._ceiling, self._limit + 1 / self._limit)
        elif slot.probe and self._refusing_since is not None:
            self._pause_until = self._clock.now() + self._probe_wait()
        self._wake()

    def _refused(self, slot: Slot, pause: float) -> None:
        """Record a 429: from now on one call at a time probes the provider."""
        now, first = self._clock.now(), self._refusing_since is None
        if self._refusing_since is None:
            self._refusing_since, self._probes = now, 0
        self._probes += slot.probe
        end = self._refusing_since + self.patience
        if now >= end:
            self._give_up()
        elif first or slot.probe or pause > 0:
            wait = pause if pause > 0 else self._probe_wait()
            self._pause_until = min(end, max(self._pause_until, now + wait))
            self._notify()

    def _accepted(self) -> None:
        """Record that the provider accepts calls again."""
        if self._refusing_since is None:
            return
        self._notify(over=True)
        self._refusing_since, self._pause_until = None, 0.0
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def _probe_wait(self) -> float:
        assert self._policy is not None
        return self._policy.probe_wait(self._probes + 1)

    def _give_up(self) -> None:
        self._exhausted = True
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(self._error())

    def _error(self) -> FatalModelError:
        return FatalModelError(
            f"{self._provider} has answered nothing but 429 (too many requests) for {_minutes(self.patience)}",
            where=self._provider,
            fix="Resume the run later, or wait longer with --rate-limit-wait SECONDS.",
            http_status=429,
            closed=True,
        )

    def _notify(self, over: bool = False) -> None:
        if self.watch is not None and self._refusing_since is not None:
            seconds = self._clock.now() - self._refusing_since
            self.watch(RateLimitNews(self._provider, seconds, self.patience, over))

    def _free(self) -> bool:
        return self._in_flight < int(self._limit) and not self._paused() and not self._probe_out

    def _paused(self) -> bool:
        return self._pause_until > 0 and self._clock.now() < self._pause_until

    def _take_slot(self) -> bool:
        """Take a slot; return whether it is a probe's."""
        self._in_flight += 1
        self._probe_out = self._refusing_since is not None
        if self._probe_out:
            self._taking = asyncio.get_running_loop().create_task(self._accept_probe())
        return self._probe_out

    async def _accept_probe(self) -> None:
        """Admit other calls if a probe is not refused for a while."""
        await self._clock.sleep(_TAKEN_AFTER)
        if self._probe_out:
            self._probe_out, self._taking = False, None
            self._accepted()
            self._wake()

    async def _wait(self) -> bool:
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._wake()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._in_flight -= 1
                self._probe_out = self._probe_out and not waiter.result()
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            self._wake()
            raise

    def _wake(self) -> None:
        """Give free slots to waiting calls, or schedule that for the end of the pause."""
        while self._waiting and self._free():
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(self._take_slot())
        if self._waiting and self._paused() and (self._pauser is None or self._pauser.done()):
            self._pauser = asyncio.get_running_loop().create_task(self._end_of_pause())

    async def _end_of_pause(self) -> None:
        while self._paused():
            await self._clock.sleep(self._pause_until - self._clock.now())
        self._pauser = None
        self._wake()


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"


class LimiterPool:
    """The limiters of a run: one for each provider and address, shared by all models behind it.

    `watch` is called when a provider starts to answer only 429, at each further probe, and when it answers again.
    `within` is the pool that simultaneous runs share.
    """

    def __init__(self, clock: Clock | None = None, within: LimiterPool | None = None) -> None:
        self._clock = clock or SystemClock()
        self._limiters: dict[tuple[str, str | None], AdaptiveLimiter] = {}
        self._within = within
        self.watch: Callable[[RateLimitNews], None] | None = None

    def get(
        self, provider: str, base_url: str | None, ceiling: int, policy: RetryPolicy | None = None, remote: bool = True
    ) -> AdaptiveLimiter:
        """Return the limiter of a provider, created on first use. `remote`: the provider is not in this process."""
        limiter = self._limiters.get((provider, base_url))
        if limiter is None:
            limiter = AdaptiveLimiter(ceiling, self._clock, policy, provider)
            limiter = self._limiters.setdefault((provider, base_url), limiter)  # another thread may have created it
            limiter.watch = self._notify
        limiter.raise_ceiling(ceiling)
        if self._within is not None:
            limiter.within = self._within.get(provider, base_url, ceiling, remote=remote)
        return limiter

    def _notify(self, news: RateLimitNews) -> None:
        if self.watch is not None:
            self.watch(news)
