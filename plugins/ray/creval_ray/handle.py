"""The run's handle of one worker: its work, and the loops that send to it and receive from it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from creval.plugin import CrevalError
from creval_ray.coordinator import Coordinator

__all__ = ["LostError", "WorkerHandle"]

_CLOSING = 10.0  # seconds for a worker to close its parts


class LostError(Exception):
    """The worker is lost: another worker has to do its work."""


class WorkerHandle:
    """A worker of the cluster. `load` counts its work items; `lost` is called once when it is lost."""

    def __init__(
        self, ray: Any, actor: Any, name: str, coordinator: Coordinator, lost: Callable[[WorkerHandle], None]
    ) -> None:
        self.name = name
        self.pid = 0
        self.is_lost = False
        self._ray = ray
        self._actor = actor
        self._coordinator = coordinator
        self._on_lost = lost
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
        """Open the run's parts there. Raises LostError, and the error that kept them from opening."""
        try:
            status = await self._actor.open.remote(*given)
        except self._ray.exceptions.RayActorError as error:
            self._end()
            raise LostError(f"{self.name} did not start") from error
        self.pid = status["pid"]
        self._coordinator.update(self.name, status)
        self._loops = [asyncio.create_task(self._sending()), asyncio.create_task(self._receiving())]

    async def do(self, **work: Any) -> Mapping[str, Any]:
        """Give work and wait for its result. Raises LostError if the worker is lost before that."""
        if self.is_lost:
            raise LostError(self.name)
        number = next(self._numbers)
        self._given[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, **work})
        try:
            return await self._given[number]
        finally:
            self._given.pop(number, None)

    async def close(self) -> None:
        """Let the worker close its parts, then end it."""
        for task in [*self._loops, *self._answers]:
            task.cancel()
        await asyncio.gather(*self._loops, *self._answers, return_exceptions=True)
        if not self.is_lost:
            with suppress(Exception):
                async with asyncio.timeout(_CLOSING):
                    await self._actor.stop.remote()
            self._kill()

    def _send(self, message: dict[str, Any]) -> None:
        self._out.append(message)
        self._wake.set()

    async def _sending(self) -> None:
        """Send all pending messages at once; the next ones after these have arrived."""
        with suppress(asyncio.CancelledError):
            while True:
                await self._wake.wait()
                self._wake.clear()
                out, self._out = self._out, []
                try:
                    await self._actor.push.remote(out)
                except self._ray.exceptions.RayError:
                    return self._end()

    async def _receiving(self) -> None:
        """Process the worker's messages, in order."""
        with suppress(asyncio.CancelledError):
            while True:
                try:
                    received = await self._actor.pull.remote()
                except self._ray.exceptions.RayError:
                    return self._end()
                try:
                    self._coordinator.update(self.name, received["status"])
                except CrevalError:  # its resources differ from the other workers'
                    return self._end()
                for message in received["messages"]:
                    self._take(message)

    def _take(self, message: Mapping[str, Any]) -> None:
        if "note" in message:
            self._coordinator.notify(self.name, message["note"])
        elif "ask" in message:
            task = asyncio.create_task(self._answer(message["id"], message["ask"]))
            self._answers.add(task)
            task.add_done_callback(self._answers.discard)
        else:
            given = self._given.get(message["id"])
            if given is not None and not given.done():
                given.set_result(message["result"])

    async def _answer(self, number: int, question: Mapping[str, Any]) -> None:
        self._send({"id": number, "answer": await self._coordinator.answer(self.name, question)})

    def _end(self) -> None:
        """End a lost or unreachable worker, so that none of its messages arrives late."""
        if self.is_lost:
            return
        self.is_lost = True
        self._kill()
        self._coordinator.forget(self.name)
        for task in self._answers:
            task.cancel()
        for given in self._given.values():
            if not given.done():
                given.set_exception(LostError(self.name))
        self._on_lost(self)

    def _kill(self) -> None:
        with suppress(Exception):
            self._ray.kill(self._actor, no_restart=True)
