"""The executor `ray`: samples are made and scored by workers of a Ray cluster, everything else stays with the run."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from creval.plugin import (
    Foreman,
    Made,
    MissingPartError,
    PluginError,
    Sample,
    ScoreRecord,
    ScoreSink,
    Status,
    UsageError,
    Work,
)
from creval_ray.hand import LostError
from creval_ray.settings import Settings
from creval_ray.team import Team

__all__ = ["RayExecutor"]

_MOST_LOSSES = 5
"""So many workers may be lost over one piece of work; then it is what ends them."""


class RayExecutor:
    """Carries out a run on a cluster: `ray` on this machine, `ray://HOST:PORT` on that which stands there."""

    elsewhere = True

    def __init__(self, address: str | None, options: Mapping[str, str]) -> None:
        """Raises UsageError (settings), MissingPartError (the package ray is absent)."""
        self._address = address
        self._settings = Settings.read(options)
        if importlib.util.find_spec("ray") is None:
            cure = "Install it: pip install ray"
            raise MissingPartError("the package ray is not installed", where="--executor ray", cure=cure)
        self.batch = self._settings.batch
        self._ray: Any = None
        self._foreman: Foreman | None = None
        self._teams: dict[str, Team] = {}

    async def open(self, foreman: Foreman) -> None:
        """Connect, and start a team for each kind of needs."""
        from creval_ray.cluster import connect

        env = self._settings.environment()
        self._foreman = foreman
        self._ray = connect(self._address)
        kinds: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for task, needs in foreman.needs.items():
            kinds.setdefault(tuple(sorted(needs.items())), []).append(task)
        for kind, tasks in kinds.items():
            self._check_room(dict(kind), tasks)
        brief, private = foreman.brief, foreman.private
        teams = [Team(self._ray, foreman, dict(kind), tasks) for kind, tasks in kinds.items()]
        self._teams = {task: team for team in teams for task in team.tasks}
        for team in teams:
            await team.start(self._settings, lambda: (brief, private, env))

    def _check_room(self, needs: Mapping[str, int], tasks: Sequence[str]) -> None:
        from creval_ray.cluster import room_for

        gpus = needs.get("gpu")
        if gpus and not room_for(self._ray, {"GPU": gpus}):
            has = self._ray.cluster_resources().get("GPU", 0)
            raise UsageError(
                f"{', '.join(map(repr, tasks))} needs {gpus} GPU on one machine, and the cluster has {has:g} in all",
                where="--executor ray",
                cure="Join a machine with GPUs to the cluster, or leave the task out.",
            )

    async def make(self, work: Work) -> Made:
        """Make a sample by one of the workers; where that is lost, by another one."""
        assert self._foreman is not None
        told = await self._done(work.key.task, make=list(work.key))
        if told is None:
            error = PluginError(f"{_MOST_LOSSES} workers were lost while they made this sample")
            return Made(Sample(work.key, work.doc.fields, Status.ERRORED, reason=error.what), error)
        return self._foreman.made(told)

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score batches, as many at once as there are workers, and one more each so that none waits for its next."""
        foreman = self._foreman
        assert foreman is not None
        ended = list[Exception]()

        async def lane() -> None:
            for batch in batches:
                if ended:
                    return
                told = await self._done(task, score=[task, foreman.crossing(batch)])
                if told is None:
                    reason = f"{_MOST_LOSSES} workers were lost while they scored this batch"
                    scored([ScoreRecord(sample.key, Status.ERRORED, reason=reason) for sample in batch])
                    continue
                try:
                    foreman.scored(told, scored)
                except Exception as error:  # the others come to the end of what they have
                    ended.append(error)

        lanes = 2 * max(1, len(self._teams[task].hands))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(lanes):
                    group.create_task(lane())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if ended:
            raise ended[0]

    async def _done(self, task: str, **piece: Any) -> Mapping[str, Any] | None:
        """Give a piece of work to a worker, and again where that one is lost. None where it ends every worker."""
        for _ in range(_MOST_LOSSES):
            try:
                return await self._teams[task].do(**piece)
            except LostError:
                continue
        return None

    async def close(self) -> None:
        """End the workers and leave the cluster."""
        from creval_ray.cluster import disconnect

        try:
            for team in set(self._teams.values()):
                await team.close()
        finally:
            if self._ray is not None:
                disconnect(self._ray)
