"""One worker as the run sees it: what it was given, and the loops that send to it and hear from it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from creval.plugin import CrevalError, Foreman

__all__ = ["Hand", "LostError"]

_CLOSING = 10.0  # seconds that a worker has to close its parts


class LostError(Exception):
    """The worker is gone: what it was given has to be given to another one."""


class Hand:
    """A worker of the cluster. `load` counts the pieces of work that it has; `lost` is called once when it is gone."""

    def __init__(self, ray: Any, actor: Any, name: str, foreman: Foreman, lost: Callable[[Hand], None]) -> None:
        self.name = name
        self.pid = 0
        self.gone = False
        self._ray = ray
        self._actor = actor
        self._foreman = foreman
        self._lost = lost
        self._numbers = itertools.count()
        self._given: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._out: list[dict[str, Any]] = []
        self._wake = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._answers: set[asyncio.Task[None]] = set()

    @property
    def load(self) -> int:
        return len(self._given)

    async def open(self, *given: Any) -> None:
        """Open the run's parts there. Raises LostError, and what kept them from opening."""
        try:
            told = await self._actor.open.remote(*given)
        except self._ray.exceptions.RayActorError as error:
            self._end()
            raise LostError(f"{self.name} did not start") from error
        self.pid = told["pid"]
        self._foreman.opened(self.name, told)
        self._loops = [asyncio.create_task(self._sending()), asyncio.create_task(self._hearing())]

    async def do(self, **piece: Any) -> Mapping[str, Any]:
        """Give a piece of work and wait for what comes of it. Raises LostError where the worker is gone before."""
        if self.gone:
            raise LostError(self.name)
        number = next(self._numbers)
        self._given[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, **piece})
        try:
            return await self._given[number]
        finally:
            self._given.pop(number, None)

    async def close(self) -> None:
        """Let the worker close its parts, and end it."""
        for task in [*self._loops, *self._answers]:
            task.cancel()
        await asyncio.gather(*self._loops, *self._answers, return_exceptions=True)
        if not self.gone:
            with suppress(Exception):
                await asyncio.wait_for(self._actor.stop.remote(), _CLOSING)
            self._kill()

    def _send(self, message: dict[str, Any]) -> None:
        self._out.append(message)
        self._wake.set()

    async def _sending(self) -> None:
        """Send what there is to send, all of it at once; the next when that has arrived."""
        with suppress(asyncio.CancelledError):
            while True:
                await self._wake.wait()
                self._wake.clear()
                out, self._out = self._out, []
                try:
                    await self._actor.push.remote(out)
                except self._ray.exceptions.RayError:
                    return self._end()

    async def _hearing(self) -> None:
        """Take what the worker tells, in its order."""
        with suppress(asyncio.CancelledError):
            while True:
                try:
                    heard = await self._actor.pull.remote()
                except self._ray.exceptions.RayError:
                    return self._end()
                try:
                    self._foreman.opened(self.name, heard["told"])
                except CrevalError:  # it opened something that the others do not have
                    return self._end()
                for message in heard["messages"]:
                    self._take(message)

    def _take(self, message: Mapping[str, Any]) -> None:
        if "tell" in message:
            self._foreman.hear(self.name, message["tell"])
        elif "ask" in message:
            task = asyncio.create_task(self._answer(message["id"], message["ask"]))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        else:
            given = self._given.get(message["id"])
            if given is not None and not given.done():
                given.set_result(message["done"])

    async def _answer(self, number: int, question: Mapping[str, Any]) -> None:
        self._send({"id": number, "answer": await self._foreman.answer(self.name, question)})

    def _end(self) -> None:
        """The worker is gone, or cannot be reached: it is ended for good, so that nothing of it comes late."""
        if self.gone:
            return
        self.gone = True
        self._kill()
        self._foreman.lost(self.name)
        for task in self._answers:
            task.cancel()
        for given in self._given.values():
            if not given.done():
                given.set_exception(LostError(self.name))
        self._lost(self)

    def _kill(self) -> None:
        with suppress(Exception):
            self._ray.kill(self._actor, no_restart=True)
