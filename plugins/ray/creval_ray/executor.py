"""The executor `ray`: workers of a Ray cluster generate and score samples; the run's process does the rest."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.plugin import MissingPartError, PluginError, Sample, ScoreRecord, Status, UsageError
from creval.plugin.executors import ItemResult, ScoreSink, WorkItem
from creval.plugin.workers import RunContext
from creval_ray.coordinator import Coordinator
from creval_ray.handle import LostError
from creval_ray.pool import WorkerPool
from creval_ray.settings import Settings

__all__ = ["RayExecutor"]

_MOST_LOSSES = 5
"""The number of workers lost over one work item after which the item is considered the cause."""


class RayExecutor:
    """Executes a run on a cluster: `ray` on this machine, `ray://HOST:PORT` on one that is running there."""

    remote = True

    def __init__(self, address: str | None, options: Mapping[str, str]) -> None:
        """Raise UsageError (settings), MissingPartError (the package ray is absent)."""
        self._address = address
        self._settings = Settings.read(options)
        if importlib.util.find_spec("ray") is None:
            fix = "Install it: pip install ray"
            raise MissingPartError("the package ray is not installed", where="--executor ray", fix=fix)
        self.batch = self._settings.batch
        self._ray: Any = None
        self._coordinator: Coordinator | None = None
        self._pools: dict[str, WorkerPool] = {}

    async def open(self, context: RunContext) -> None:
        """Connect, and start a pool of workers for each kind of needs."""
        from creval_ray.cluster import connect

        env = self._settings.environment()
        self._coordinator = coordinator = Coordinator(context)
        self._ray = connect(self._address)
        kinds: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for task, needs in coordinator.needs.items():
            kinds.setdefault(tuple(sorted(needs.items())), []).append(task)
        for kind, tasks in kinds.items():
            self._check_capacity(dict(kind), tasks)
        spec, private = coordinator.spec, coordinator.private
        pools = [WorkerPool(self._ray, coordinator, dict(kind), tasks) for kind, tasks in kinds.items()]
        self._pools = {task: pool for pool in pools for task in pool.tasks}
        for pool in pools:
            await pool.start(self._settings, lambda: (spec, private, env))

    def _check_capacity(self, needs: Mapping[str, int], tasks: Sequence[str]) -> None:
        from creval_ray.cluster import capacity_for

        gpus = needs.get("gpu")
        if gpus and not capacity_for(self._ray, {"GPU": gpus}):
            has = self._ray.cluster_resources().get("GPU", 0)
            raise UsageError(
                f"{', '.join(map(repr, tasks))} needs {gpus} GPU on one machine, but the cluster has {has:g} in total",
                where="--executor ray",
                fix="Join a machine with GPUs to the cluster, or leave the task out.",
            )

    async def make(self, item: WorkItem) -> ItemResult:
        """Let a worker make a sample; if it is lost, use another one."""
        assert self._coordinator is not None
        result = await self._do(item.key.task, make=list(item.key))
        if result is None:
            error = PluginError(f"{_MOST_LOSSES} workers were lost while they made this sample")
            return ItemResult(Sample(item.key, item.doc.fields, Status.ERRORED, reason=error.what), error)
        return self._coordinator.decode_result(result)

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score batches: two at once per worker, so that no worker is idle."""
        coordinator = self._coordinator
        assert coordinator is not None
        ended = list[Exception]()

        async def loop() -> None:
            for batch in batches:
                if ended:
                    return
                result = await self._do(task, score=[task, coordinator.encode_samples(batch)])
                if result is None:
                    reason = f"{_MOST_LOSSES} workers were lost while they scored this batch"
                    scored([ScoreRecord(sample.key, Status.ERRORED, reason=reason) for sample in batch])
                    continue
                try:
                    coordinator.take_scores(result, scored)
                except Exception as error:  # the others finish their batches
                    ended.append(error)

        loops = 2 * max(1, len(self._pools[task].workers))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(loops):
                    group.create_task(loop())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if ended:
            raise ended[0]

    async def _do(self, task: str, **work: Any) -> Mapping[str, Any] | None:
        """Give work to a worker, and to another one if that is lost. Return None if all that get it are lost."""
        for _ in range(_MOST_LOSSES):
            try:
                return await self._pools[task].do(**work)
            except LostError:
                continue
        return None

    async def close(self) -> None:
        """End the workers and disconnect from the cluster."""
        from creval_ray.cluster import disconnect

        try:
            for pool in set(self._pools.values()):
                await pool.close()
        finally:
            if self._ray is not None:
                disconnect(self._ray)
