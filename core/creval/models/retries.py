"""When a failed try is made again, and after how long.

The clock of retries, limiter and budget; tests replace it by one that they advance.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from dataclasses import dataclass, field
from typing import Protocol

from creval.errors import RetryableModelError

__all__ = ["Clock", "RetryPolicy", "SystemClock"]


_DOUBLINGS = 60  # beyond any cap; a thousand would outgrow a float


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
        """Return the seconds to wait before the `retry`-th new try (from 1), None where there shall be none.

        A server's Retry-After is a lower bound, spread by up to `base` seconds so that waiting calls do not all
        come back at once; an error with `retry_after` 0 is tried again at once.
        """
        if retry > self.max_retries:
            return None
        if error.retry_after is not None:
            if error.retry_after <= 0:
                return 0.0
            return self.asked_pause(error) + self.random.uniform(0.0, self.base)
        return self.random.uniform(0.0, min(self.cap, math.ldexp(self.base, min(retry - 1, _DOUBLINGS))))

    def probe_wait(self, probe: int) -> float:
        """Return the seconds before the `probe`-th call (from 1) that asks a provider whether it still answers 429."""
        bound = min(self.cap, math.ldexp(self.base, min(probe - 1, _DOUBLINGS)))
        return self.random.uniform(bound / 2, bound)

    def asked_pause(self, error: RetryableModelError) -> float:
        """The wait in seconds that the server asked for, capped; 0 where it asked for none."""
        return min(max(0.0, error.retry_after or 0.0), self.retry_after_cap)


class Clock(Protocol):
    """Time and waiting."""

    def now(self) -> float:
        """Seconds that only go forward."""

    def wall(self) -> float:
        """Seconds since the epoch, for dates that a server sends."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.perf_counter()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
