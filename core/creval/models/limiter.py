"""How many calls a provider gets at once: found out by going up slowly and down fast."""

from __future__ import annotations

import asyncio
from collections import deque

from creval.models.clock import Clock, SystemClock

__all__ = ["AdaptiveLimiter", "LimiterPool", "Slot"]


class Slot:
    """One call in flight. `round` is the number of decreases that the limiter had made when the call began."""

    __slots__ = ("round",)

    def __init__(self, round_: int) -> None:
        self.round = round_


class AdaptiveLimiter:
    """Additive increase, multiplicative decrease of the calls in flight to one provider.

    Starts at `ceiling`, what the user allows. Each answer raises the limit by 1/limit, so by about 1 a round
    trip, as long as the limit is in use. A 429 halves it, never below 1, and only once a round trip: 429s to
    calls that began before the last decrease tell nothing new. After a 429 that names a time to wait, no call
    begins before it. Calls are served in the order they came.
    """

    def __init__(self, ceiling: int, clock: Clock | None = None) -> None:
        self._ceiling = float(max(1, ceiling))
        self._limit = self._ceiling
        self._clock = clock or SystemClock()
        self._in_flight = 0
        self._round = 0
        self._pause_until = 0.0
        self._pauser: asyncio.Task[None] | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> float:
        return self._limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def raise_ceiling(self, ceiling: int) -> None:
        """Allow at least `ceiling` calls at once: another model of the run shares this limiter."""
        if ceiling > self._ceiling:
            self._limit += ceiling - self._ceiling
            self._ceiling = float(ceiling)
            self._wake()

    async def acquire(self) -> Slot:
        """Wait for a place. Cancelling the wait leaves no place taken."""
        if self._waiting or not self._free():
            await self._wait()
        else:
            self._in_flight += 1
        return Slot(self._round)

    def release(self, slot: Slot, *, answered: bool = False, limited: bool = False, pause: float = 0.0) -> None:
        """Give the place back, with what came of it.

        `answered`: the provider gave an answer. `limited`: it answered 429; `pause` is the wait in seconds that
        it asked for. Neither: another error or a cancelled call, which says nothing about the limit.
        """
        used = self._in_flight + len(self._waiting) >= self._limit
        self._in_flight -= 1
        if limited:
            if slot.round == self._round:
                self._round += 1
                self._limit = max(1.0, self._limit / 2)
            if pause > 0:
                self._pause_until = max(self._pause_until, self._clock.now() + pause)
        elif answered and used and self._limit < self._ceiling:
            self._limit = min(self._ceiling, self._limit + 1 / self._limit)
        self._wake()

    def _free(self) -> bool:
        return self._in_flight < int(self._limit) and not self._paused()

    def _paused(self) -> bool:
        return self._pause_until > 0 and self._clock.now() < self._pause_until

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._wake()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._in_flight -= 1
            elif waiter in self._waiting:
                self._waiting.remove(waiter)
            self._wake()
            raise

    def _wake(self) -> None:
        """Hand free places to those who wait, or see to it that it is done when the pause ends."""
        while self._waiting and self._free():
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._in_flight += 1
                waiter.set_result(None)
        if self._waiting and self._paused() and (self._pauser is None or self._pauser.done()):
            self._pauser = asyncio.get_running_loop().create_task(self._end_of_pause())

    async def _end_of_pause(self) -> None:
        while self._paused():
            await self._clock.sleep(self._pause_until - self._clock.now())
        self._pauser = None
        self._wake()


class LimiterPool:
    """The limiters of a run: one for each provider and address, shared by all models behind it."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._limiters: dict[tuple[str, str | None], AdaptiveLimiter] = {}

    def get(self, provider: str, base_url: str | None, ceiling: int, remote: bool = True) -> AdaptiveLimiter:
        """Return the limiter of a provider, made on first use. `remote`: it is not in this process."""
        limiter = self._limiters.get((provider, base_url))
        if limiter is None:
            limiter = self._limiters[provider, base_url] = AdaptiveLimiter(ceiling, self._clock)
        else:
            limiter.raise_ceiling(ceiling)
        return limiter
