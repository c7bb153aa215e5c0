"""What is to be done: tasks x docs x conditions x repeats, counted first and walked lazily."""

from __future__ import annotations

import hashlib
import logging
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.data.dataset import Dataset
from creval.engine.planning.seeds import choose
from creval.engine.planning.shards import Shard, parse_shard
from creval.engine.run_options import RunOptions, parse_limit
from creval.errors import DataError
from creval.tasks.task_model import Task
from creval.types.execution import WorkItem
from creval.types.sample import Doc, SampleKey

__all__ = ["TaskPlan", "check_named_docs", "plan_task"]

_BLOCK = 4096
_LOG = logging.getLogger("creval")


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The samples of one task. `indices` are the docs chosen, None for all; `shard` says which part of more they are.

    `overrides` are generation settings, `varied` the conditions (setting -> values) that the user set in place of the
    task's; both have gone into the task's conditions where it varies them.
    """

    task: Task
    dataset: Dataset
    indices: Sequence[int] | None
    repeats: int
    overrides: Mapping[str, Any] = field(default_factory=dict)
    varied: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    shard: Shard | None = None

    @property
    def chosen(self) -> Sequence[int]:
        """The places of the chosen docs in the dataset."""
        return range(len(self.dataset)) if self.indices is None else self.indices

    @property
    def docs(self) -> int:
        """How many docs are asked."""
        return len(self.chosen)

    @property
    def docs_digest(self) -> str:
        """The sha256 of the chosen docs' places in the dataset: equal for equal docs, however they were chosen."""
        digest, chosen = hashlib.sha256(), self.chosen
        for start in range(0, len(chosen), _BLOCK):
            digest.update(b"," if start else b"")
            digest.update(",".join(map(str, chosen[start : start + _BLOCK])).encode())
        return digest.hexdigest()

    @property
    def total(self) -> int:
        """How many samples there are."""
        return self.docs * len(self.task.conditions) * self.repeats

    def groups(self, field: str) -> Mapping[str, str]:
        """Return by doc id the value of a field that docs are taken together by, as text."""
        chosen = range(len(self.dataset)) if self.indices is None else self.indices
        docs = (self.dataset[index] for index in chosen)
        return {doc.id: str(doc.fields[field]) for doc in docs}

    def rank(self, index: int, condition: int, repeat: int) -> int:
        """Return the place of a sample among those of the task: by doc in the order of the data, condition, repeat."""
        return (index * len(self.task.conditions) + condition) * self.repeats + repeat

    def works(self, done: Callable[[int], bool]) -> Iterator[WorkItem]:
        """Yield the samples that are not done, by their rank; each doc is read when its turn comes."""
        for index in self.chosen:
            doc: Doc | None = None
            rank = self.rank(index, 0, 0)
            for condition in self.task.conditions:
                for repeat in range(self.repeats):
                    if not done(rank):
                        doc = doc or self.dataset[index]
                        yield WorkItem(
                            SampleKey(self.task.name, doc.id, condition.name, repeat), doc, condition, repeat
                        )
                    rank += 1

    def chosen_docs(self) -> Iterator[Doc]:
        """Yield the docs that are asked."""
        return iter(self.dataset) if self.indices is None else (self.dataset[index] for index in self.indices)


def check_named_docs(plans: Sequence[TaskPlan], options: RunOptions) -> None:
    """Raises DataError for a doc that was named and that no task of the run has."""
    for name in options.docs:
        faults = []
        for plan in plans:
            try:
                plan.dataset.position(name)
            except DataError as error:
                faults.append(error)
        if len(faults) == len(plans):
            raise faults[0]


def _named_docs(task: Task, dataset: Dataset, names: Sequence[str]) -> Sequence[int]:
    """Return the rising positions of the docs that were named, as far as this task has them."""
    found = set()
    for name in names:
        try:
            found.add(dataset.position(name))
        except DataError as error:
            if len(names) == 1:
                raise
            last = error
    if not found:
        raise DataError(
            f"the task {task.name!r} has none of the {len(names)} docs that were named ({last.what})",
            where=dataset.origin,
            cure=last.cure or "Leave the task out, or name docs of it.",
        )
    return sorted(found)


def plan_task(task: Task, dataset: Dataset, options: RunOptions) -> TaskPlan:
    """Choose the docs of a task by the limit and seed of the run, and of these the shard's, be they none."""
    limit, first = parse_limit(options.limit)
    count = len(dataset)
    indices: Sequence[int] | None = None
    if options.docs:
        indices = _named_docs(task, dataset, options.docs)
    elif limit is not None and limit < count:
        indices = range(limit) if first else array("q", choose(count, limit, options.seed, task.qualified))
    elif limit is not None and limit > count:
        _LOG.warning("%s: --limit %s, but there are %d docs; all of them are taken", task.name, options.limit, count)
    shard = parse_shard(options.shard)
    if shard is not None:
        ids = dataset.ids
        chosen = range(count) if indices is None else indices
        indices = array("q", (index for index in chosen if shard.holds(ids[index])))
    repeats = options.repeats or task.repeats
    return TaskPlan(task, dataset, indices, repeats, dict(options.generation), dict(options.conditions), shard)
