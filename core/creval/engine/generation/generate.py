"""The first step: makes samples concurrently, and writes each to its file as soon as it ends.

The module also has the protocol `chat`, which sends the prompt once: the answer is the sample's answer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from creval.engine.observer import Observer
from creval.engine.planning.plan import TaskPlan
from creval.engine.resuming.resume_state import ResumeState
from creval.errors import BudgetError, FatalModelError
from creval.models.model_stats import ModelStats
from creval.models.secrets import redact
from creval.runs.jsonl import Appender, UnstorableError, dump_line
from creval.runs.media import MediaFolder
from creval.runs.record_data import sample_data
from creval.runs.text_references import by_reference
from creval.types.components import Session
from creval.types.content import MediaPart
from creval.types.execution import ItemResult, WorkItem
from creval.types.sample import Sample, Status
from creval.types.tools import ToolCall

__all__ = ["HOPELESS", "Chat", "Job", "SampleMaker", "generate", "store_sample"]


class Chat(NamedTuple):
    """One turn. With `n` the model is asked for several answers in one call; each is an answer of the sample.

    Without it the generation setting `n` of task, condition or run is used (default 1). If a completion has tool calls
    and no text, the calls are the answer: a JSON list of `{"name": ..., "arguments": {...}}`, in which malformed
    arguments are the text that the model wrote. `tolerate`: see `Session.ask`; with `length` an answer that is cut at
    the token limit counts (e.g. if only its first token is scored).
    """

    n: int | None = None
    tolerate: Sequence[str] = ()

    async def run(self, session: Session) -> None:
        """Send the prompt and keep every completion."""
        settings: dict[str, Any] = {} if self.n is None else {"n": self.n}
        reply = await session.ask(session.prompt(), tolerate=self.tolerate, **settings)
        for completion in reply.completions:
            silent = completion.tool_calls and not completion.text.strip()
            session.answer(_calls_as_text(completion.tool_calls) if silent else completion.text)


def _calls_as_text(calls: Sequence[ToolCall]) -> str:
    entries = [{"name": call.name, "arguments": call.arguments if (v := call.values) is None else v} for call in calls]
    return json.dumps(entries, ensure_ascii=False)


class Stored(NamedTuple):
    """A sample as it is stored: plain data, the line of its file, and the media that the line names."""

    sample: Sample
    record: Mapping[str, Any]
    line: bytes
    media: Sequence[MediaPart] = ()


def store_sample(sample: Sample, reference: bool) -> Stored:
    """Return the sample to store. If the protocol's report is not plain data, the sample is errored and has no report.

    `reference`: without its doc and texts that quote it, unless they were removed already.
    """
    stored = by_reference if reference and sample.doc_digest is None else _unchanged
    media = () if reference else tuple(sample.media.values())
    try:
        record = sample_data(stored(sample))
        return Stored(sample, record, dump_line(record), media)
    except UnstorableError as error:
        reason = redact(f"the protocol reported something other than plain data: {error.what}")
        plain = replace(sample, status=Status.ERRORED, reason=reason, outcome={}, answers=())
        record = sample_data(stored(plain))
        return Stored(plain, record, dump_line(record), media)


def _unchanged(sample: Sample) -> Sample:
    return sample


HOPELESS = 20
"""The most samples of a task that may end as errored before any that does not; then the task is given up."""


class Job(NamedTuple):
    """One task to generate: its plan and its resume state."""

    plan: TaskPlan
    state: ResumeState[Any]

    @property
    def missing(self) -> int:
        """The number of samples still to be made."""
        return self.plan.total - len(self.state.samples.done)


class SampleMaker(NamedTuple):
    """Makes samples: the executor's function, the most samples at once, and the target's statistics so far."""

    make: Callable[[WorkItem], Awaitable[ItemResult]]
    concurrency: int
    stats: Callable[[], ModelStats]


@dataclass(slots=True)
class _Progress:
    """The progress of one task. `given_up` is the error because of which it is not continued."""

    job: Job
    file: Appender
    media: MediaFolder
    answered: int = 0
    failed: int = 0
    given_up: Exception | None = None

    def note(self, result: ItemResult) -> None:
        """Update the progress from a sample: give the task up if further calls are hopeless."""
        if result.error is None:
            self.answered += 1
            return
        self.failed += 1
        fatal = result.error if isinstance(result.error, FatalModelError) else None
        if fatal is not None and (fatal.closed or (fatal.every_call and not self.answered)):
            self.given_up = self.given_up or result.error
        elif not self.answered and self.failed >= HOPELESS:
            self.given_up = result.error


@dataclass(slots=True)
class _Generation:
    """The state of one generation: an iterator that all workers draw from, the open files, and the task it runs in."""

    tasks: Sequence[_Progress]
    maker: SampleMaker
    observer: Observer
    step: asyncio.Task[Any]
    budget: BudgetError | None = None
    works: Iterator[tuple[_Progress, int, WorkItem]] = field(init=False)

    def __post_init__(self) -> None:
        self.works = self._walk()

    def _walk(self) -> Iterator[tuple[_Progress, int, WorkItem]]:
        for progress in self.tasks:
            if not progress.job.missing:
                continue
            for rank, work in progress.job.plan.works(progress.job.state.samples.done.has):
                if progress.given_up is not None:
                    break
                yield progress, rank, work

    async def worker(self) -> None:
        """Make samples until none is left or the budget ends. No queue: a doc is read when a worker is free."""
        make, _, stats = self.maker
        for progress, rank, work in self.works:
            if self.budget is not None:
                return
            try:
                result = await make(work)
            except BudgetError as error:
                self.budget = error
                return
            progress.note(result)
            stored = store_sample(result.sample, progress.job.plan.task.by_reference)
            if stored.media:
                progress.media.keep(stored.media)
            progress.file.append_line(stored.line)
            progress.job.state.add_sample(stored.record, len(stored.line), rank)
            self.observer.on_sample(stored.sample, stats)
            if self.step.cancelling():  # a component ignored the cancellation
                return

    def close(self) -> None:
        for progress in self.tasks:
            progress.file.close()

    def check_given_up(self) -> None:
        """Raise an error if every task with missing samples was given up: the set-up is wrong, not a sample."""
        tried = [progress for progress in self.tasks if progress.answered or progress.failed]
        if tried and all(progress.given_up is not None for progress in tried):
            error = tried[0].given_up
            assert error is not None
            raise error


async def generate(jobs: Sequence[Job], maker: SampleMaker, observer: Observer) -> BudgetError | None:
    """Make every missing sample. Returns the BudgetError that ended it early, if any.

    Raises RunError (full disk), UsageError (a part that every sample needs is missing), and the samples' own error
    where no task got any answer (wrong key, unknown model, no server). What was made by then is on disk, and the
    run can be resumed.
    A task that gets no answer while others do is given up: the rest of its samples counts as skipped.
    """
    for job in jobs:
        job.state.prepare()
    media = MediaFolder(jobs[0].state.samples.path.parent.parent) if jobs else None
    tasks = [_Progress(job, Appender(job.state.samples.path), media) for job in jobs if media is not None]
    step = asyncio.current_task()
    assert step is not None
    generation = _Generation(tasks, maker, observer, step)
    total, missing = sum(job.plan.total for job in jobs), sum(job.missing for job in jobs)
    observer.on_phase("generate", None, total, total - missing)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, min(maker.concurrency, missing))):
                group.create_task(generation.worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        generation.close()
    for job in jobs:
        job.state.save()
    if generation.budget is None:
        generation.check_given_up()
    return generation.budget
