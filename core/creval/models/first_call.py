"""Makes calls with new settings wait until the first one is accepted, so that a refused setting costs one call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from creval.errors import FatalModelError

__all__ = ["FirstCalls"]

_LET_IN_AFTER = 2.0
"""Seconds after which a first call counts as accepted: a setting is refused at once, an answer may take long."""
_MOST = 1000
"""The most sets of settings to watch; if every call has its own, one call says nothing about the next."""
_BY_CALL = frozenset({"seed"})


class FirstCalls:
    """The settings that a model has accepted, those being tried, and those refused."""

    def __init__(self) -> None:
        self._let_in: set[tuple[str, ...]] = set()
        self._tried: dict[tuple[str, ...], asyncio.Event] = {}
        self._refused: dict[tuple[str, ...], FatalModelError] = {}

    def accepts(self, settings: Mapping[str, Any]) -> bool:
        """Whether a first call with the same settings was accepted, so that a call need not wait for its turn."""
        key = _key(settings)
        return key in self._let_in and key not in self._refused

    @asynccontextmanager
    async def turn(self, settings: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait for the first call with the same settings; without one this call is the first.

        Raises the error of the first call if it applies to every call.
        """
        key = _key(settings)
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
        """Whether the first call has taken so long that it counts as accepted."""
        try:
            async with asyncio.timeout(_LET_IN_AFTER):
                await done.wait()
        except TimeoutError:
            return True
        return False


def _key(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(sorted([f"{name}={value!r}" for name, value in settings.items() if name not in _BY_CALL]))


def _copy(error: FatalModelError) -> FatalModelError:
    return FatalModelError(
        error.what,
        where=error.where,
        fix=error.fix,
        http_status=error.http_status,
        every_call=error.every_call,
        closed=error.closed,
    )
