"""The workers of one kind: all that have the same needs, for the tasks that have them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from creval.plugin import CrevalError, Foreman, RunError
from creval_ray.cluster import room_for
from creval_ray.hand import Hand, LostError
from creval_ray.settings import Settings
from creval_ray.worker import Worker

__all__ = ["Team"]

_DEATHS_A_WORKER = 3  # so many are started in place of each before the team is not filled up again


class Team:
    """Starts workers, gives each piece of work to the one with the least to do, and replaces those that are lost."""

    def __init__(self, ray: Any, foreman: Foreman, needs: Mapping[str, int], tasks: Sequence[str]) -> None:
        self._ray = ray
        self._foreman = foreman
        self._needs = dict(needs)
        self._tasks = list(tasks)
        self.hands: list[Hand] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._spares = 0
        self._fault: CrevalError | None = None
        self._changed = asyncio.Event()
        self._patience = 0.0
        self._opening: Callable[[], tuple[Any, ...]] = tuple
        self._resources: dict[str, Any] = {}
        self._names = itertools.count()

    @property
    def tasks(self) -> Sequence[str]:
        return self._tasks

    async def start(self, settings: Settings, opening: Callable[[], tuple[Any, ...]]) -> None:
        """Start the workers; ready when one is. Raises what kept it from opening."""
        wanted = {"CPU": settings.cpus, **({"GPU": self._needs["gpu"]} if "gpu" in self._needs else {})}
        self._resources = {"num_cpus": settings.cpus, **({"num_gpus": wanted["GPU"]} if "GPU" in wanted else {})}
        self._patience = settings.patience
        self._opening = opening
        count = settings.workers or max(1, room_for(self._ray, wanted))
        self._spares = _DEATHS_A_WORKER * count
        for _ in range(count):
            self._hire()
        await self._one()

    async def do(self, **piece: Any) -> Mapping[str, Any]:
        """Let a worker do a piece of work. Raises LostError where that one is lost, RunError where there is none."""
        hand = await self._free()
        try:
            return await hand.do(**piece)
        finally:
            self._changed.set()

    async def _free(self) -> Hand:
        """Return the worker with the least to do, once it has less than its share: a slow one gets no more."""
        while True:
            await self._one()
            share = max(2, -(-self._foreman.concurrency // (len(self.hands) + len(self._starting))))
            hand = min(self.hands, key=lambda each: each.load)
            if hand.load < share:
                return hand
            self._changed.clear()
            await self._changed.wait()

    async def _one(self) -> None:
        """Wait until there is a worker. Raises RunError where none comes, and what kept one from opening."""
        while True:
            if self._fault is not None:
                raise self._fault
            if self.hands:
                return
            if not self._starting:
                raise self._deserted("every worker was lost, and so were those in their place")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), self._patience)
            except TimeoutError:
                needs = ", ".join(f"{name[4:]} {number:g}" for name, number in self._resources.items())
                said = f"no worker ({needs}) could be started within {self._patience:g} seconds"
                raise self._deserted(said) from None

    async def close(self) -> None:
        """End all workers."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(hand.close() for hand in list(self.hands)), return_exceptions=True)

    def _hire(self) -> None:
        task = asyncio.create_task(self._opened())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _opened(self) -> None:
        actor = self._ray.remote(Worker).options(**self._resources, max_restarts=0).remote()
        hand = Hand(self._ray, actor, f"worker {next(self._names)}", self._foreman, self._gone)
        try:
            await hand.open(*self._opening(), self._tasks)
        except LostError:
            return
        except CrevalError as error:
            self._fault = error
        except asyncio.CancelledError:
            self._ray.kill(actor, no_restart=True)
            raise
        else:
            self.hands.append(hand)
        self._changed.set()

    def _gone(self, hand: Hand) -> None:
        """Take a lost worker out, and start another one in its place while there are spares."""
        if hand in self.hands:
            self.hands.remove(hand)
        if self._spares > 0:
            self._spares -= 1
            self._hire()
        self._changed.set()

    def _deserted(self, what: str) -> RunError:
        cure = "Look at the cluster (`ray status`), and go on with: creval resume RUN; or with --executor local."
        return RunError(what, where="--executor ray", cure=cure)
