"""The first step: samples are made concurrently and written one by one, the moment each ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from creval.engine.codec import sample_data
from creval.engine.folder import RunFolder
from creval.engine.jsonl import Appender
from creval.engine.observer import Observer
from creval.engine.plan import TaskPlan, Work
from creval.engine.sampling import make_sample
from creval.engine.session import TaskRuntime
from creval.errors import BudgetError

__all__ = ["Job", "generate"]


@dataclass(frozen=True, slots=True)
class Job:
    """One task to generate: its plan and what its samples share."""

    plan: TaskPlan
    runtime: TaskRuntime


class _Generation:
    """The state of one generation: an iterator that all workers draw from, and the open files."""

    def __init__(self, jobs: Sequence[Job], folder: RunFolder, observer: Observer) -> None:
        self._jobs = jobs
        self._observer = observer
        self._done = {job.plan.task.name: folder.prepare_samples(job.plan.task.name) for job in jobs}
        self._files: Mapping[str, Appender] = {
            job.plan.task.name: Appender(folder.samples(job.plan.task.name)) for job in jobs
        }
        self._works = self._walk()
        self.budget: BudgetError | None = None

    @property
    def total(self) -> int:
        return sum(job.plan.total for job in self._jobs)

    @property
    def done(self) -> int:
        return sum(len(keys) for keys in self._done.values())

    def _walk(self) -> Iterator[tuple[Job, Work]]:
        for job in self._jobs:
            done = self._done[job.plan.task.name]
            for work in job.plan.works(done.__contains__):
                yield job, work

    async def worker(self) -> None:
        """Draw samples until none is left or the budget ends. No queue: a doc is read when a worker is free for it."""
        for job, work in self._works:
            if self.budget is not None:
                return
            try:
                sample = await make_sample(job.runtime, work)
            except BudgetError as error:
                self.budget = error
                return
            self._files[work.key.task].append(sample_data(sample))
            self._observer.on_sample(sample, job.runtime.models.get("target").stats())

    def close(self) -> None:
        for file in self._files.values():
            file.close()


async def generate(jobs: Sequence[Job], folder: RunFolder, concurrency: int, observer: Observer) -> BudgetError | None:
    """Make every sample that is missing. Returns the BudgetError that ended it early, if one did.

    Raises RunError (full disk), UsageError (a part that every sample needs is missing); what was made by then
    is on disk and the run can be resumed.
    """
    generation = _Generation(jobs, folder, observer)
    observer.on_phase("generate", None, generation.total, generation.done)
    workers = max(1, min(concurrency, generation.total - generation.done))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(generation.worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        generation.close()
    return generation.budget
