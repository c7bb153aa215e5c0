"""Calls with new settings go one by one until the first was let in: a refusal of a setting is then one call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from creval.errors import FatalModelError

__all__ = ["FirstCalls"]

_LET_IN_AFTER = 2.0
"""Seconds after which a first call counts as let in: a refusal of a setting comes at once, an answer may take long."""
_MOST = 1000
"""So many sets of settings are looked at; where each call has its own, nothing is to be learnt from another."""
_BY_CALL = frozenset({"seed"})


class FirstCalls:
    """Which settings a model's calls were let in with, which are being tried, and which were refused."""

    def __init__(self) -> None:
        self._let_in: set[tuple[str, ...]] = set()
        self._tried: dict[tuple[str, ...], asyncio.Event] = {}
        self._refused: dict[tuple[str, ...], FatalModelError] = {}

    @asynccontextmanager
    async def turn(self, settings: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait for the first call with the same settings, and be it where there is none.

        Raises the error of the first call where it holds for every call.
        """
        key = tuple(sorted(f"{name}={value!r}" for name, value in settings.items() if name not in _BY_CALL))
        while key not in self._let_in and key in self._tried:
            if await self._waited(self._tried[key]):
                self._let_in.add(key)
        if key in self._refused:
            raise _copy(self._refused[key])
        if key in self._let_in or len(self._let_in) >= _MOST:
            yield
            return
        done = self._tried[key] = asyncio.Event()
        try:
            yield
            self._let_in.add(key)
        except FatalModelError as error:
            if error.every_call:
                self._refused[key] = error
            raise
        finally:
            self._tried.pop(key, None)
            done.set()

    async def _waited(self, done: asyncio.Event) -> bool:
        """Whether the first call has been out for so long that it was let in."""
        try:
            async with asyncio.timeout(_LET_IN_AFTER):
                await done.wait()
        except TimeoutError:
            return True
        return False


def _copy(error: FatalModelError) -> FatalModelError:
    return FatalModelError(
        error.what,
        where=error.where,
        fix=error.fix,
        http_status=error.http_status,
        every_call=error.every_call,
        closed=error.closed,
    )
