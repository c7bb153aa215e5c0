"""Executor `local`: everything in this process, by its one event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence

from creval.engine.scoring.task_scoring import BATCH
from creval.errors import UsageError
from creval.types.execution import Foreman, Made, ScoreSink, Work
from creval.types.sample import Sample

__all__ = ["LocalExecutor"]


class LocalExecutor:
    """Does at once what it is asked. It takes neither an address nor options."""

    elsewhere = False
    batch = BATCH

    def __init__(self, address: str | None, options: Mapping[str, str]) -> None:
        if address is not None:
            raise UsageError("the local executor has no address", where="--executor", cure="Write: --executor local")
        if options:
            name = next(iter(options))
            raise UsageError(
                f"the local executor has no option {name!r}", where="--executor-option", cure="Leave it out."
            )
        self._foreman: Foreman | None = None

    async def open(self, foreman: Foreman) -> None:
        """Know who lends the means."""
        self._foreman = foreman

    def make(self, work: Work) -> Awaitable[Made]:
        """Make one sample."""
        assert self._foreman is not None
        return self._foreman.make(work)

    async def score(self, task: str, batches: Iterator[Sequence[Sample]], scored: ScoreSink) -> None:
        """Score a task's samples."""
        assert self._foreman is not None
        await self._foreman.score(task, batches, scored)

    async def close(self) -> None:
        """There is nothing to let go of."""
