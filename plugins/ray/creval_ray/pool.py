"""A pool of workers with the same needs, for the tasks with these needs."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from creval.plugin import CrevalError, RunError
from creval_ray.actor import WorkerActor
from creval_ray.cluster import capacity_for
from creval_ray.coordinator import Coordinator
from creval_ray.handle import LostError, WorkerHandle
from creval_ray.settings import Settings

__all__ = ["WorkerPool"]

_RESTARTS_PER_WORKER = 3


class WorkerPool:
    """Starts workers, gives work to the least loaded one, and replaces lost ones."""

    def __init__(self, ray: Any, coordinator: Coordinator, needs: Mapping[str, int], tasks: Sequence[str]) -> None:
        self._ray = ray
        self._coordinator = coordinator
        self._needs = dict(needs)
        self._tasks = list(tasks)
        self.workers: list[WorkerHandle] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._restarts = 0
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
        """Start the workers; ready when one is. Raises the error that kept it from opening."""
        wanted = {"CPU": settings.cpus, **({"GPU": self._needs["gpu"]} if "gpu" in self._needs else {})}
        self._resources = {"num_cpus": settings.cpus, **({"num_gpus": wanted["GPU"]} if "GPU" in wanted else {})}
        self._patience = settings.patience
        self._opening = opening
        count = settings.workers or max(1, capacity_for(self._ray, wanted))
        self._restarts = _RESTARTS_PER_WORKER * count
        for _ in range(count):
            self._start_one()
        await self._any_worker()

    async def do(self, **work: Any) -> Mapping[str, Any]:
        """Let a worker do work. Raises LostError if that worker is lost, RunError if there is none."""
        worker = await self._free()
        try:
            return await worker.do(**work)
        finally:
            self._changed.set()

    async def _free(self) -> WorkerHandle:
        """Return the least loaded worker, once its load is below its share: a slow one gets no more work."""
        while True:
            await self._any_worker()
            share = max(2, -(-self._coordinator.concurrency // (len(self.workers) + len(self._starting))))
            worker = min(self.workers, key=lambda each: each.load)
            if worker.load < share:
                return worker
            self._changed.clear()
            await self._changed.wait()

    async def _any_worker(self) -> None:
        """Wait until there is a worker. Raises RunError if there is none, and the error that kept one from opening."""
        while True:
            if self._fault is not None:
                raise self._fault
            if self.workers:
                return
            if not self._starting:
                raise self._no_worker("every worker was lost, and so were their replacements")
            self._changed.clear()
            try:
                async with asyncio.timeout(self._patience):
                    await self._changed.wait()
            except TimeoutError:
                needs = ", ".join(f"{name[4:]} {number:g}" for name, number in self._resources.items())
                said = f"no worker ({needs}) could be started within {self._patience:g} seconds"
                raise self._no_worker(said) from None

    async def close(self) -> None:
        """End all workers."""
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(worker.close() for worker in list(self.workers)), return_exceptions=True)

    def _start_one(self) -> None:
        task = asyncio.create_task(self._open_one())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _open_one(self) -> None:
        actor = self._ray.remote(WorkerActor).options(**self._resources, max_restarts=0).remote()
        worker = WorkerHandle(self._ray, actor, f"worker {next(self._names)}", self._coordinator, self._replace)
        try:
            await worker.open(*self._opening(), self._tasks)
        except LostError:
            return
        except CrevalError as error:
            self._fault = error
        except asyncio.CancelledError:
            self._ray.kill(actor, no_restart=True)
            raise
        else:
            self.workers.append(worker)
        self._changed.set()

    def _replace(self, worker: WorkerHandle) -> None:
        """Remove a lost worker, and start another one while restarts are left."""
        if worker in self.workers:
            self.workers.remove(worker)
        if self._restarts > 0:
            self._restarts -= 1
            self._start_one()
        self._changed.set()

    def _no_worker(self, what: str) -> RunError:
        fix = "Look at the cluster (`ray status`), and continue with: creval resume RUN; or with --executor local."
        return RunError(what, where="--executor ray", fix=fix)
