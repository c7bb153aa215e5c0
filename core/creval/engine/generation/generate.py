"""The first step: samples are made concurrently and written one by one, the moment each ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from creval.engine.generation.storing import sample_line
from creval.engine.observer import Observer
from creval.engine.planning.plan import TaskPlan
from creval.errors import BudgetError, CrevalError, FatalModelError
from creval.models.stats import ModelStats
from creval.runs.folder import Done, RunFolder
from creval.runs.jsonl import Appender
from creval.types.execution import Made, Work

__all__ = ["HOPELESS", "Job", "Means", "generate"]

HOPELESS = 20
"""So many samples of a task may end as errored before the first one that does not; then the task is given up."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task to generate: its plan, and the samples that are there where all of them stay."""

    plan: TaskPlan
    known: Done | None = None


class Means(NamedTuple):
    """How samples are made: by whom (an executor), how many at once at most, and what the target did so far."""

    make: Callable[[Work], Awaitable[Made]]
    concurrency: int
    stats: Callable[[], ModelStats]


@dataclass(slots=True)
class _Progress:
    """How one task is getting on. `given_up` is the error for which nothing more of it is asked."""

    job: Job
    done: Done
    file: Appender
    answered: int = 0
    failed: int = 0
    given_up: CrevalError | None = None

    def note(self, made: Made) -> None:
        """Learn from a sample whether asking on makes sense."""
        if made.error is None:
            self.answered += 1
            return
        self.failed += 1
        fatal = made.error if isinstance(made.error, FatalModelError) else None
        if fatal is not None and (fatal.closed or (fatal.every_call and not self.answered)):
            self.given_up = self.given_up or made.error
        elif not self.answered and self.failed >= HOPELESS:
            self.given_up = made.error


@dataclass(slots=True)
class _Generation:
    """The state of one generation: an iterator that all workers draw from, and the open files."""

    tasks: Sequence[_Progress]
    means: Means
    observer: Observer
    budget: BudgetError | None = None
    works: Iterator[tuple[_Progress, Work]] = field(init=False)

    def __post_init__(self) -> None:
        self.works = self._walk()

    def _walk(self) -> Iterator[tuple[_Progress, Work]]:
        for progress in self.tasks:
            if len(progress.done) >= progress.job.plan.total:
                continue
            for work in progress.job.plan.works(progress.done.__contains__):
                if progress.given_up is not None:
                    break
                yield progress, work

    async def worker(self) -> None:
        """Draw samples until none is left or the budget ends. No queue: a doc is read when a worker is free for it."""
        make, _, stats = self.means
        for progress, work in self.works:
            if self.budget is not None:
                return
            try:
                made = await make(work)
            except BudgetError as error:
                self.budget = error
                return
            progress.note(made)
            line, sample = sample_line(made.sample, progress.job.plan.task.by_reference)
            progress.file.append_line(line)
            self.observer.on_sample(sample, stats())

    def close(self) -> None:
        for progress in self.tasks:
            progress.file.close()

    def check_hope(self) -> None:
        """Raise where every task that had something to ask was given up: the set-up is wrong, not a sample."""
        tried = [progress for progress in self.tasks if progress.answered or progress.failed]
        if tried and all(progress.given_up is not None for progress in tried):
            error = tried[0].given_up
            assert error is not None
            raise error


async def generate(jobs: Sequence[Job], folder: RunFolder, means: Means, observer: Observer) -> BudgetError | None:
    """Make every sample that is missing. Returns the BudgetError that ended it early, if one did.

    Raises RunError (full disk), UsageError (a part that every sample needs is missing), and the samples' own error
    where no task got any answer (wrong key, unknown model, no server). What was made by then is on disk, and the
    run can be resumed.
    A task that gets no answer while others do is given up: the rest of its samples counts as skipped.
    """
    names = [job.plan.task.name for job in jobs]
    done = [folder.prepare_samples(job.plan.task.name, job.known) for job in jobs]
    tasks = [
        _Progress(job, keys, Appender(folder.samples(name))) for job, keys, name in zip(jobs, done, names, strict=True)
    ]
    generation = _Generation(tasks, means, observer)
    total, ready = sum(job.plan.total for job in jobs), sum(len(keys) for keys in done)
    observer.on_phase("generate", None, total, ready)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(means.concurrency, total - ready))):
                group.create_task(generation.worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        generation.close()
    if generation.budget is None:
        generation.check_hope()
    return generation.budget
