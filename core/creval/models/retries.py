"""The retry policy, and the clock of retries, limiter and budget, which tests replace by one that they advance."""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from typing import Protocol

from creval.errors import RetryableModelError

__all__ = ["Clock", "RetryPolicy", "SystemClock"]


_DOUBLINGS = 60  # above any cap; a thousand would overflow a float


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with full jitter; see `ModelOptions` for the meaning of the numbers (seconds)."""

    max_retries: int = 6
    base: float = 1.0
    cap: float = 60.0
    retry_after_cap: float = 120.0
    rate_limit_wait: float = 0.0
    random: random.Random = field(default_factory=random.Random)

    def wait(self, retry: int, error: RetryableModelError) -> float | None:
        """Return the seconds to wait before retry number `retry` (from 1), or None if there is none.

        A server's Retry-After is a lower bound, spread by up to `base` seconds so that waiting calls do not all
        come back at once; an error with `retry_after` 0 is tried again at once.
        """
        if retry > self.max_retries:
            return None
        if error.retry_after is not None:
            if error.retry_after <= 0:
                return 0.0
            return self.requested_pause(error) + self.random.uniform(0.0, self.base)
        return self.random.uniform(0.0, min(self.cap, math.ldexp(self.base, min(retry - 1, _DOUBLINGS))))

    def probe_wait(self, probe: int) -> float:
        """Return the seconds before probe number `probe` (from 1) of a provider that answers 429."""
        bound = min(self.cap, math.ldexp(self.base, min(probe - 1, _DOUBLINGS)))
        return self.random.uniform(bound / 2, bound)

    def requested_pause(self, error: RetryableModelError) -> float:
        """Return the wait in seconds that the server asked for, capped; 0 if it asked for none."""
        return min(max(0.0, error.retry_after or 0.0), self.retry_after_cap)


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> float:
        """Return monotonic seconds."""

    def wall(self) -> float:
        """Return seconds since the epoch, for dates that a server sends."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.perf_counter()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
