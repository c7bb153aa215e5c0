"""The clock that retries, limiter and budget live by; tests give them one that they turn themselves."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


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
