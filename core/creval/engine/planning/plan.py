"""The plan of a run: tasks x docs x conditions x repeats, counted first and iterated lazily.

The grid of conditions is the task's, with the user's axes in place of the task's.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from creval.data.dataset import Dataset
from creval.engine.planning.seeds import choose
from creval.engine.planning.shards import Shard, parse_shard
from creval.engine.run_options import RunOptions, parse_limit
from creval.errors import DataError, UnknownNameError, UsageError
from creval.format import counted
from creval.plugins.registry import Registry
from creval.plugins.traits import Raters
from creval.tasks.sections.settings import MAX_CELLS, cells, generation_settings, varied_settings
from creval.tasks.task_model import ScorerRef, Task
from creval.tasks.yaml.schema import validator_for
from creval.tasks.yaml.wording import SchemaFault, say
from creval.types.execution import WorkItem
from creval.types.sample import Condition, Doc, SampleKey

__all__ = ["TaskPlan", "asked_people", "asks_people", "check_named_docs", "for_people", "plan_task", "with_own_grid"]


def with_own_grid(task: Task, options: RunOptions, registry: Registry) -> Task:
    """Return the task with the conditions of this run.

    A setting of `options.generation` wins over the task's conditions: its axis collapses to the one value. One of
    `options.conditions` takes the values given there, whether the task varies it or not.
    Raises UnknownNameError, UsageError (a parameter of the protocol among the generation settings, an impossible value,
    too many cells).
    """
    axes = _axes(task)
    _check_kinds(axes, options)
    known = varied_settings(registry.get("protocol", task.protocol.name))
    for name, values in options.conditions.items():
        _check_values(task, name, values, known)
        axes[name] = list(values)
    collapsed = {name: [value] for name, value in options.generation.items() if name in axes}
    if not collapsed and not options.conditions:
        return task
    axes.update(collapsed)
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_CELLS:
        raise UsageError(f"the grid of {task.name!r} has {count:,} cells; {MAX_CELLS:,} is the limit", where=_OPTION)
    return replace(task, conditions=tuple(cells(axes)))


def for_people(task: Task) -> Task:
    """Return the task with the one condition `default` if it only varies a model's generation settings."""
    varied = {name for condition in task.conditions for name in condition.settings}
    if len(task.conditions) < 2 or not varied <= generation_settings().keys():
        return task
    return replace(task, conditions=(Condition(),))


def asks_people(model: str) -> bool:
    """Whether a model's name stands for a person."""
    return model.startswith("human/")


def asked_people(manifest: Mapping[str, Any]) -> bool:
    """Whether a run asked people, once per doc (runs of earlier versions asked them under each condition of a task)."""
    once = any([c["name"] for c in task["conditions"]] == [Condition().name] for task in manifest["tasks"])
    return asks_people(manifest["roles"]["target"]) and once


_OPTION = "--condition"


def _axes(task: Task) -> dict[str, list[Any]]:
    """Return the values of each setting that the task varies, in its order."""
    axes: dict[str, dict[str, Any]] = {}
    for condition in task.conditions:
        for name, value in condition.settings.items():
            axes.setdefault(name, {}).setdefault(json.dumps(value, sort_keys=True), value)
    return {name: list(values.values()) for name, values in axes.items()}


def _check_kinds(axes: Mapping[str, Any], options: RunOptions) -> None:
    for name in options.generation:
        if name in axes and name not in generation_settings():
            raise UsageError(
                f"{name!r} is a parameter of the task's protocol, not a setting of the model",
                where="--generation",
                fix=f"Write --condition {name}=VALUE.",
            )


def _check_values(task: Task, name: str, values: Sequence[Any], known: Mapping[str, Any]) -> None:
    if name not in known:
        hint = f"The task {task.name!r} can vary no such setting."
        raise UnknownNameError("setting", name, sorted(known), where=_OPTION, hint=hint)
    for value in values:
        error = None if value is None else next(validator_for(known[name]).iter_errors(value), None)
        if error is not None:
            what, fix = say(SchemaFault.of(error))
            raise UsageError(f"the setting {name} {what}", where=_OPTION, fix=fix)


_BLOCK = 4096

_LOG = logging.getLogger("creval")


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The samples of one task. `indices` are the chosen docs, None for all; `shard` is their part of a larger run.

    `overrides` are generation settings, `varied` the conditions (setting -> values) that the user set in place of the
    task's; the task's conditions already contain both. `shares` is another task of the run that asks the same, whose
    answers this one uses. `raters` are those of its scorers, under the task's names. `prompt_overrides` are the number
    of examples and the system message that the user set. `people` are the scores that count as unproven until they have
    been compared with people's labels.
    """

    task: Task
    dataset: Dataset
    indices: Sequence[int] | None
    repeats: int
    overrides: Mapping[str, Any] = field(default_factory=dict)
    varied: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    shard: Shard | None = None
    shares: str | None = None
    prompt_overrides: Mapping[str, Any] = field(default_factory=dict)
    raters: Sequence[Raters] = ()
    people: Sequence[str] = ()

    @property
    def chosen(self) -> Sequence[int]:
        """The positions of the chosen docs in the dataset."""
        return range(len(self.dataset)) if self.indices is None else self.indices

    @property
    def docs(self) -> int:
        """How many docs are asked."""
        return len(self.chosen)

    @property
    def docs_digest(self) -> str:
        """The sha256 of the chosen docs' positions in the dataset: equal for equal docs, however they were chosen."""
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
        """Return the value, as text, of the field by which docs are grouped, by doc id."""
        chosen = range(len(self.dataset)) if self.indices is None else self.indices
        docs = (self.dataset[index] for index in chosen)
        return {doc.id: str(doc.fields[field]) for doc in docs}

    def rank(self, index: int, condition: int, repeat: int) -> int:
        """Return the position of a sample in its task: by doc in the order of the data, condition, repeat."""
        return (index * len(self.task.conditions) + condition) * self.repeats + repeat

    def works(self, done: Callable[[int], bool]) -> Iterator[tuple[int, WorkItem]]:
        """Yield the samples that are not done with their ranks, in order; each doc is read when it is reached."""
        for index in self.chosen:
            doc: Doc | None = None
            rank = self.rank(index, 0, 0)
            for condition in self.task.conditions:
                for repeat in range(self.repeats):
                    if not done(rank):
                        doc = doc or self.dataset[index]
                        key = SampleKey(self.task.name, doc.id, condition.name, repeat)
                        yield rank, WorkItem(key, doc, condition, repeat)
                    rank += 1

    def chosen_docs(self) -> Iterator[Doc]:
        """Yield the docs that are asked."""
        return iter(self.dataset) if self.indices is None else (self.dataset[index] for index in self.indices)


def check_named_docs(plans: Sequence[TaskPlan], options: RunOptions) -> None:
    """Raise DataError for a named doc that no task of the run has."""
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
    """Return the ascending positions of the named docs, as far as this task has them."""
    positions = set()
    for name in names:
        try:
            positions.add(dataset.position(name))
        except DataError as error:
            if len(names) == 1:
                raise
            last_error = error
    if not positions:
        raise DataError(
            f"the task {task.name!r} has none of the {counted(len(names), 'docs')} that were named ({last_error.what})",
            where=dataset.origin,
            fix=last_error.fix or "Leave the task out, or name docs from it.",
        )
    return sorted(positions)


def _limited(task: Task, dataset: Dataset, options: RunOptions) -> Sequence[int] | None:
    """Return the positions that a limit selects, None for all. Raises DataError if it begins after the last doc."""
    limit, count = parse_limit(options.limit), len(dataset)
    assert limit is not None
    if limit.span is not None:
        low, high = limit.span
        if low > count:
            what = f"--limit {options.limit} begins after the last of the {counted(count, 'docs')} of {task.name!r}"
            raise DataError(what, where=dataset.origin, fix="Use positions within the docs, or leave the task out.")
        if high > count:
            _LOG.warning("%s: --limit %s, but the last of the docs is number %s", task.name, options.limit, count)
        return range(low - 1, min(high, count)) if (low, high) != (1, count) else None
    number = limit.count(count)
    if number > count:
        available = "is 1 doc; it is taken" if count == 1 else f"are {count} docs; all of them are taken"
        _LOG.warning("%s: --limit %s, but there %s", task.name, options.limit, available)
    if number >= count:
        return None
    return range(number) if limit.first else array("q", choose(count, number, options.seed, task.qualified))


def plan_task(task: Task, dataset: Dataset, options: RunOptions, registry: Registry) -> TaskPlan:
    """Choose the docs of a task by the run's limit and seed, and those of them in the shard, possibly none."""
    count = len(dataset)
    indices: Sequence[int] | None = None
    if options.docs:
        indices = _named_docs(task, dataset, options.docs)
    elif options.limit is not None:
        indices = _limited(task, dataset, options)
    shard = parse_shard(options.shard)
    if shard is not None:
        ids = dataset.ids
        positions = range(count) if indices is None else indices
        indices = array("q", (index for index in positions if shard.holds(ids[index])))
    repeats = options.repeats or task.repeats
    return TaskPlan(
        task,
        dataset,
        indices,
        repeats,
        dict(options.generation),
        dict(options.conditions),
        shard,
        prompt_overrides=options.prompt_overrides,
        raters=_raters_of(task, registry),
        people=_for_people(task, registry),
    )


def _raters_of(task: Task, registry: Registry) -> list[Raters]:
    """Return the raters that the task's scorers declare, under the task's names for their scores."""
    all_raters = []
    for ref in task.score:
        raters = registry.get("scorer", ref.name).scorer_traits(ref.parameters).raters
        if raters is not None and isinstance(ref, ScorerRef):
            scores = {role: ref.named(score) for role, score in raters.scores.items()}
            raters = raters._replace(score=ref.named(raters.score), scores=scores)
        all_raters += [] if raters is None else [raters]
    return all_raters


def _for_people(task: Task, registry: Registry) -> list[str]:
    """Return the scores that should be compared with people's labels, as the task's scorers declare."""
    return [
        ref.named(score) if isinstance(ref, ScorerRef) else score
        for ref in task.score
        for score in registry.get("scorer", ref.name).scorer_traits(ref.parameters).people
    ]
