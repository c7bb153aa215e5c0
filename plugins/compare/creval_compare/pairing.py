"""Finds what several runs have in common: the same task, by the same resources, over the same docs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from creval.plugin import Aggregation, Registry, Run, RunError, UnknownNameError
from creval.plugin.comparing import (
    Clusters,
    Combined,
    Grouping,
    Ratio,
    Scale,
    TaskTally,
    averaged,
    part_clusters,
    with_records,
)

__all__ = ["MetricKey", "PairedMetric", "SharedTask", "shared_task", "shared_tasks"]

_MUST = {"hash": "the task itself", "dataset": "data", "instruments": "instruments"}
_MAY = {
    "repeats": "repeats",
    "generation_overrides": "generation settings",
    "condition_overrides": "conditions",
    "prompt_overrides": "--few-shot or --system",
    "docs_digest": "the docs that were chosen",
}


class MetricKey(NamedTuple):
    """A metric of a task over all conditions (None) or under one."""

    name: str
    condition: str | None


_DEFINED = frozenset({"score", "aggregate", "weight", "failed_value", "range", "binary", "ci"})
"""The keys of a metric's `definition` in results.json that are needed to aggregate it again."""


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric and its values in each run: of the docs (or groups of docs) that all have, in the same order, or all
    trials.

    `left_out` counts the docs that have a value in some runs only, or the groups whose docs are not the same.
    """

    key: MetricKey
    metric: Mapping[str, Any]
    aggregation: Aggregation
    docs: tuple[str, ...]
    sides: Sequence[Clusters]
    left_out: int

    @property
    def scale(self) -> Scale:
        """The scale of the metric's values."""
        definition = self.metric["definition"]
        low, high = definition["range"]
        return Scale(low, high, definition["binary"])

    @property
    def paired(self) -> bool:
        """Whether docs or groups of docs, not single trials, are independent."""
        return bool(self.metric["cluster"] != "trial")


class SharedTask:
    """A task that all runs have, with their scores, which are read once."""

    def __init__(self, runs: Sequence[Run], task: str, registry: Registry) -> None:
        self.task = task
        self._runs = runs
        self._groups: dict[Any, list[Mapping[str, str]] | None] = {}
        self._results = [run.result(task) for run in runs]
        self._registry = registry
        conditions = [[each["name"] for each in _entry(run, task)["conditions"]] for run in runs]
        self._conditions = [names for names in conditions[0] if all(names in other for other in conditions[1:])]
        self._same_conditions = len({tuple(names) for names in conditions}) == 1
        self._tallies = [self._tally(run, names) for run, names in zip(runs, conditions, strict=True)]

    @property
    def metrics(self) -> list[MetricKey]:
        """The metrics that all runs have, in the order of the first."""
        found = [_metrics(result) for result in self._results]
        shared = [key for key in found[0] if all(key in other for other in found[1:])]
        shared = [key for key in shared if self._holds_groups(found[0][key])]
        return [key for key in shared if key.condition is not None or self._same_conditions or not self._conditions]

    def metric(self, key: MetricKey) -> Mapping[str, Any]:
        """Return a metric as the results of the first run have it."""
        return _metrics(self._results[0])[key]

    def notes(self) -> Iterator[str]:
        """Return notes on differences between the runs that may cause a difference of the numbers."""
        differing = [words for name, words in _MAY.items() if _differ(self._results, name)]
        if differing:
            yield f"{self.task}: the runs differ in {', '.join(differing)}"
        metrics = _metrics(self._results[0])
        unknown = dict.fromkeys(key.name for key, metric in metrics.items() if not self._holds_groups(metric))
        if unknown:
            yield f"{self.task}: {', '.join(unknown)} not compared, as the runs lack the groups of their docs"
        for result in self._results:
            lost = result["counts"]["errored"] + result["counts"]["skipped"]
            if lost:
                yield f"{self.task}: {lost} of {result['planned']} samples of one run errored or were skipped"

    def _holds_groups(self, metric: Mapping[str, Any]) -> bool:
        return all(self._docs_by(metric, key) is not None for key in ("by", "group"))

    def compared(self, key: MetricKey) -> PairedMetric:
        """Return one metric's values. Raises RunError if a result does not say what its numbers are made of."""
        metric = _metrics(self._results[0])[key]
        by: Sequence[Mapping[str, str]] = self._docs_by(metric, "by") or []
        tallies = self._tallies
        if "group" in metric:
            tallies = [
                tally.part({doc for doc, value in values.items() if value == metric["group"]})
                for tally, values in zip(tallies, by, strict=True)
            ]
        made = [self._side(metric, tally, key, place) for place, tally in enumerate(tallies)]
        aggregation = made[0][0]
        clusters = [side for _, side, _ in made]
        if hasattr(aggregation, "read"):
            places = [self._places(metric, tally, key) for tally in tallies]
            stored = [run.scores(self.task) for run in self._runs]
            clusters = with_records(aggregation, list(zip(clusters, places, stored, strict=True)))
        if metric["cluster"] == "trial":
            values = by or [{}] * len(made)
            sides = [self._averaged(metric, *each, own) for each, own in zip(made, values, strict=True)]
            return PairedMetric(key, metric, aggregation, (), sides, 0)
        groups: Sequence[Mapping[str, str] | None] = self._docs_by(metric, "group") or [None] * len(made)
        names = [_members(docs, own) for (_, _, docs), own in zip(made, groups, strict=True)]
        shared = {name for name, docs in names[0].items() if all(other.get(name) == docs for other in names[1:])}
        sides = [
            side.chosen(np.array([name in shared for name in own], dtype=bool))
            for side, own in zip(clusters, names, strict=True)
        ]
        docs = tuple(sorted(shared))
        kept = [[doc for doc in own if doc in shared] for own in names]
        sides = [
            self._averaged(metric, aggregation, side, own, values)
            for side, own, values in zip(sides, kept, by or [{}] * len(sides), strict=True)
        ]
        return PairedMetric(key, metric, aggregation, docs, sides, len(set().union(*names)) - len(shared))

    def _side(
        self, metric: Mapping[str, Any], tally: TaskTally, key: MetricKey, place: int
    ) -> tuple[Aggregation, Clusters, list[str]]:
        """Return the aggregation, the values of one run, and the docs that these are of."""
        definition, cell = metric["definition"], tally.condition(key.condition)
        unit = "doc" if metric["cluster"] == "group" else metric["cluster"]
        if definition.get("of"):
            parts = [
                (each["score"], _zero(each, each["failed"]), each["weight"], self._aggregation(each))
                for each in definition["of"]["parts"]
            ]
            clusters, docs, _ = part_clusters(tally, parts, cell, unit)
            return Combined(definition["of"]["how"], len(parts)), clusters, docs
        groups = self._docs_by(metric, "group")
        kind = Grouping(metric["cluster"], definition["weight"], groups[place] if groups else None)
        given = (definition["score"], _zero(definition, metric["failed"]), cell, kind)
        return self._aggregation(definition), tally.clusters(*given)[0], tally.units(*given)[1]

    def _places(self, metric: Mapping[str, Any], tally: TaskTally, key: MetricKey) -> list[tuple[str, str, int]]:
        """Return doc, condition and repeat of the values of one run."""
        definition = metric["definition"]
        kind = Grouping(metric["cluster"], definition["weight"])
        zero = _zero(definition, metric["failed"])
        return tally.places(definition["score"], zero, tally.condition(key.condition), kind)

    def _aggregation(self, definition: Mapping[str, Any]) -> Aggregation:
        named = definition["aggregate"]
        made: Aggregation = self._registry.get("aggregation", named["name"]).load()(**named["parameters"])
        return made

    def _averaged(
        self,
        metric: Mapping[str, Any],
        aggregation: Aggregation,
        side: Clusters,
        docs: Sequence[str],
        values: Mapping[str, str],
    ) -> Clusters:
        """Return one run's values with what each doc counts by, in a mean over groups."""
        how = metric["definition"].get("average", "micro")
        if "group" in metric or how == "micro" or not isinstance(aggregation, Ratio):
            return side
        return averaged(aggregation, side, [values[doc] for doc in docs], how)

    def _docs_by(self, metric: Mapping[str, Any], key: Literal["by", "group"]) -> list[Mapping[str, str]] | None:
        """Each run's groups by doc, where docs are taken together or reported by a field; none for other metrics, None
        where a run does not hold them.
        """
        field = metric.get("definition", {}).get(key) or (metric.get("by") if key == "by" else None)
        if field is None:
            return []
        if field not in self._groups:
            found = [{each.key.doc: each.doc.get(field) for each in run.samples(self.task)} for run in self._runs]
            known = all(None not in docs.values() for docs in found)
            self._groups[field] = [{doc: str(name) for doc, name in docs.items()} for docs in found] if known else None
        return self._groups[field]

    def _tally(self, run: Run, conditions: Sequence[str]) -> TaskTally:
        result = run.result(self.task)
        if any(_DEFINED - metric.get("definition", {}).keys() for metric in result["metrics"]):
            raise RunError(
                f"the results of {self.task!r} do not say what their numbers are made of, as those of a former version",
                where=str(run.folder),
                fix=f"Write them again, without calling a model: {run.score_command}",
            )
        definitions = [metric["definition"] for metric in result["metrics"]]
        definitions += [part for each in definitions for part in each.get("of", {}).get("parts", ())]
        names = [name for each in definitions for name in (each["score"], each["weight"]) if name is not None]
        tally = TaskTally(list(dict.fromkeys(names)), conditions)
        for score in run.scores(self.task):
            tally.add(score)
        return tally


def shared_tasks(runs: Sequence[Run], wanted: Sequence[str], force: bool, registry: Registry) -> list[SharedTask]:
    """Return the tasks that all runs hold (of those named, where any is).

    Raises RunError if they hold none in common, or one differs in task, data or resources and `force` is not set;
    UnknownNameError for a wanted task that some run does not hold. The name of a suite stands for its numbers.
    """
    suites = [[str(suite["task"]) for suite in run.results.get("suites", ())] if wanted else [] for run in runs]
    for name in wanted:
        for run, own in zip(runs, suites, strict=True):
            if name not in run.tasks and name not in own:
                raise UnknownNameError("task", name, [*run.tasks, *own], where=str(run.folder))
    shared = [task for task in runs[0].tasks if all(task in run.tasks for run in runs[1:])]
    chosen = [task for task in shared if task in wanted] if wanted else shared
    if not chosen and not set(wanted).intersection(*suites):
        held = "; ".join(f"{run.folder.name}: {', '.join(run.tasks)}" for run in runs)
        raise RunError(f"the runs have no task in common ({held})", fix="Name runs of the same task.")
    return [shared_task(runs, task, force, registry) for task in chosen]


def shared_task(runs: Sequence[Run], task: str, force: bool, registry: Registry) -> SharedTask:
    """Return a task that all runs hold. Raises RunError if it differs as `shared_tasks` says."""
    _check_alike(runs, task, force)
    return SharedTask(runs, task, registry)


def _check_alike(runs: Sequence[Run], task: str, force: bool) -> None:
    results = [run.result(task) for run in runs]
    different = [words for name, words in _MUST.items() if _differ(results, name)]
    if not different or force:
        return
    said = "; ".join(f"{run.folder.name}: {_settings_text(result)}" for run, result in zip(runs, results, strict=True))
    raise RunError(
        f"the runs of {task!r} differ in {' and '.join(different)}, so their numbers cannot be compared ({said})",
        fix="Score them the same way (creval score RUN), or compare them anyway: --force",
    )


def _differ(results: Sequence[Mapping[str, Any]], name: str) -> bool:
    return len({json.dumps(result.get(name) or None, sort_keys=True) for result in results}) > 1


def _settings_text(result: Mapping[str, Any]) -> str:
    used = [f"{name} {full}" for name, full in sorted(result["instruments"].items())]
    return ", ".join([f"version {result['version']}", f"hash {result['hash'][:12]}", *used])


def _zero(definition: Mapping[str, Any], failed: str | None) -> float | None:
    """Return the value of a sample without a score, or None if it is left out."""
    return float(definition["failed_value"]) if failed == "zero" else None


def _members(docs: Sequence[str], groups: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """The docs of each cluster by its name, in the order of the clusters: a doc is one, or a group of docs."""
    if groups is None:
        return {doc: (doc,) for doc in docs}
    found: dict[str, tuple[str, ...]] = dict.fromkeys(sorted({groups[doc] for doc in docs}), ())
    for doc in docs:
        found[groups[doc]] += (doc,)
    return found


def _entry(run: Run, task: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(entry for entry in run.manifest["tasks"] if entry["task"] == task)
    return found


def _metrics(result: Mapping[str, Any]) -> dict[MetricKey, Mapping[str, Any]]:
    return {MetricKey(metric["name"], metric["condition"]): metric for metric in result["metrics"]}
