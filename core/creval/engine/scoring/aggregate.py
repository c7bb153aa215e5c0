"""The third step: computes the metrics of a task from its scores: over all docs, by a field, and from other metrics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from creval.engine.planning.plan import TaskPlan
from creval.engine.planning.seeds import derive
from creval.engine.roles.ledger import UsageTally
from creval.engine.scoring.tally import Grouping, Place, TaskTally
from creval.engine.scoring.used_resources import UsedResources, changed_sections
from creval.errors import CrevalError, ScoringError
from creval.format import counted
from creval.plugins.registry import Registry
from creval.plugins.traits import Raters
from creval.runs.labelled import Labelled, people_notes
from creval.scoring.clusters import Clusters
from creval.scoring.combined import AVERAGES, Combined, averaged, joined
from creval.scoring.intervals import Scale
from creval.scoring.metric_estimate import estimate
from creval.scoring.ratio import Ratio
from creval.tasks.task_model import CombinedMetric, MetricSpec
from creval.types.code_location import line_of
from creval.types.components import Aggregation
from creval.types.metrics import Estimate, MetricResult, StatusCounts
from creval.types.sample import ScoreRecord

__all__ = [
    "MetricMaker",
    "StoredScores",
    "TaskUsage",
    "aggregate_task",
    "definition_of",
    "part_clusters",
    "task_results",
    "with_records",
]

StoredScores = Callable[[], Iterable[ScoreRecord]]


class TaskUsage(NamedTuple):
    """The usage of the calls for one task: the target's, and those of each other role."""

    target: UsageTally
    roles: Mapping[str, UsageTally]

    def whole(self) -> UsageTally:
        """Return the sum over all roles."""
        total = UsageTally()
        for tally in (self.target, *self.roles.values()):
            total.join(tally)
        return total


def aggregate_task(
    plan: TaskPlan, tally: TaskTally, used_resources: UsedResources, registry: Registry, seed: int, stored: StoredScores
) -> list[MetricResult]:
    """Return every metric over all conditions, then by condition if the task has several; groups after each.

    `stored` reads the scores behind the tally, for aggregations that need more than numbers.
    """
    return list(MetricMaker(plan, tally, used_resources, registry, seed, plan.docs, stored).all())


def task_results(
    plan: TaskPlan,
    tallies: tuple[TaskTally, TaskUsage],
    metrics: list[MetricResult],
    used_resources: UsedResources,
    labelled: Labelled,
) -> dict[str, Any]:
    """Return one task's part of results.json; `labelled` is the agreement of judges with people in the run."""
    task = plan.task
    tally, usage = tallies
    juries = [_agreement(raters, plan, tally) for raters in plan.raters]
    return {
        "task": task.name,
        "qualified": task.qualified,
        "title": task.title,
        "version": task.version,
        "plugin_version": task.plugin_version,
        "hash": task.hash,
        "dataset": plan.dataset.fingerprint,
        "identity": _identity(plan),
        "docs": plan.docs,
        "dataset_docs": len(plan.dataset),
        "docs_digest": plan.docs_digest,
        **({} if plan.shard is None else {"shard": str(plan.shard)}),
        "repeats": plan.repeats,
        "generation_overrides": dict(plan.overrides),
        "condition_overrides": {name: list(values) for name, values in plan.varied.items()},
        **({"prompt_overrides": dict(plan.prompt_overrides)} if plan.prompt_overrides else {}),
        "replaced_data": Path(plan.dataset.origin).name if plan.dataset.replaced else None,
        "variant_of": None if task.base is None else task.base.qualified,
        "changed": list(changed_sections(task)),
        "planned": plan.total,
        "counts": _status_data(tally.counts(plan.total)),
        "routes": dict(sorted(tally.routes.items())),
        "instruments": dict(used_resources.names),
        "asked_instruments": dict(used_resources.chosen),
        "played_with": dict(used_resources.played_with),
        "usage": usage.whole().to_json(),
        "usage_by_role": {
            role: tally.to_json() | {"errors": tally.errors, "reused": tally.reused}
            for role, tally in usage.roles.items()
        },
        "flags": dict(sorted(usage.target.flags.items())),
        "served_by": dict(sorted(usage.target.served_by.items())),
        "notes": [
            *used_resources.notes,
            *map(_jury_note, juries),
            *_shared_note(plan),
            *people_notes(plan.people, labelled.get(task.name, {}), used_resources.names),
        ],
        **({"juries": juries} if juries else {}),
        "first_errors": tally.errors,
        "metrics": [_metric_data(metric) for metric in metrics],
    }


def _agreement(raters: Raters, plan: TaskPlan, tally: TaskTally) -> dict[str, Any]:
    """Return the agreement of several raters over the samples of a task; `plan` gives the seed of its interval."""
    columns = [tally.column(name) for name in raters.scores.values()]
    entry: dict[str, Any] = {"score": raters.score, "roles": list(raters.scores), "level": raters.level}
    entry |= {"of": raters.of} if raters.of else {}
    seed = derive(0, "alpha", plan.task.name, raters.score)
    return {**entry, **raters.agreement(columns, raters.level, tally.docs_of_samples, seed)}


def _jury_note(entry: Mapping[str, Any]) -> str:
    alpha = "is not defined" if entry["alpha"] is None else f"= {entry['alpha']:.3f}"
    if entry["ci_low"] is not None:
        alpha += f" (95 % interval {entry['ci_low']:.3f} to {entry['ci_high']:.3f})"
    over = f"{entry['verdicts']} {entry.get('of', 'verdicts')} on {counted(entry['samples'], 'samples')}"
    return f"jury of {entry['score']}: Krippendorff's alpha ({entry['level']}) {alpha} over {over}"


def _shared_note(plan: TaskPlan) -> list[str]:
    if plan.shares is None:
        return []
    return [f"{plan.task.name} has the answers of {plan.shares}, which asks the same: asked once, and counted there"]


def _identity(plan: TaskPlan) -> str:
    parts: list[Any] = [plan.task.hash, plan.dataset.fingerprint, plan.overrides]
    if plan.shard is not None:
        parts.append({"shard": str(plan.shard)})
    if plan.varied:
        parts.append({name: list(values) for name, values in plan.varied.items()})
    if plan.prompt_overrides:
        parts.append({"prompt": dict(plan.prompt_overrides)})
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _status_data(counts: StatusCounts) -> dict[str, int]:
    return dict(asdict(counts))


def _metric_data(metric: MetricResult) -> dict[str, Any]:
    number = metric.estimate
    return {
        "name": metric.name,
        "condition": metric.condition,
        **metric.by,
        "value": number.value,
        "n": number.n,
        "clusters": number.clusters,
        "cluster": number.unit,
        "standard_error": number.standard_error,
        "ci_low": number.ci_low,
        "ci_high": number.ci_high,
        "confidence": number.confidence,
        "method": number.method,
        "no_interval": number.no_interval,
        "failed": metric.failed,
        "n_failed": metric.n_failed,
        "counts": _status_data(metric.counts),
        "higher_is_better": metric.higher_is_better,
        "primary": metric.primary,
        "unit": metric.unit,
        "definition": dict(metric.definition),
    }


@dataclass(frozen=True, slots=True)
class MetricMaker:
    """Computes the metrics of a task from the samples in `tally`: all of them, or those of the docs of a `group`.

    `docs` is the number of planned docs.
    """

    plan: TaskPlan
    tally: TaskTally
    used_resources: UsedResources
    registry: Registry
    seed: int
    docs: int
    stored: StoredScores
    group: str | None = None
    groups: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def all(self) -> Iterator[MetricResult]:
        """Yield every metric over all conditions and by condition, each followed by its groups."""
        task = self.plan.task
        cells: list[int | None] = [None]
        if len(task.conditions) > 1:
            cells += range(len(task.conditions))
        makers = {by: self._by_group(by) for metric in task.every_metric if (by := metric.by) is not None}
        for metric in task.every_metric:
            for cell in cells:
                yield self._metric(metric, cell)
            for maker in makers.get(metric.by or "", ()):
                for cell in cells:
                    yield maker._metric(metric, cell)
            if isinstance(metric, MetricSpec) and metric.by is not None:
                for how in AVERAGES if self._can_average(metric) else ():
                    if how != metric.average:
                        yield from (self._averaged(metric, cell, how) for cell in cells)

    def _by_group(self, by: str) -> Sequence[MetricMaker]:
        """Return a maker for each group of docs, in the order of their names."""
        values = self._groups(by)
        docs: dict[str, list[str]] = {}
        for doc, value in values.items():
            docs.setdefault(value, []).append(doc)
        return [
            replace(self, tally=self.tally.part(docs[value]), docs=len(docs[value]), group=value)
            for value in sorted(docs)
        ]

    def _groups(self, by: str) -> Mapping[str, str]:
        if by not in self.groups:
            self.groups[by] = self.plan.groups(by)
        return self.groups[by]

    def _can_average(self, metric: MetricSpec) -> bool:
        return isinstance(self._aggregation(metric), Ratio)

    def _aggregation(self, metric: MetricSpec) -> Aggregation:
        ref = metric.aggregate
        aggregation: Aggregation = self.registry.get("aggregation", ref.name).load()(**ref.parameters)
        return aggregation

    def _averaged(self, metric: MetricSpec, cell: int | None, how: Any) -> MetricResult:
        """Return a mean over the groups, under its own name."""
        result = self._metric(replace(metric, average=how), cell)
        name = f"{result.name}[{how} by {metric.by}]"
        return replace(result, name=name, primary=False, by={"by": str(metric.by), "average": how})

    def _metric(self, metric: MetricSpec | CombinedMetric, cell: int | None) -> MetricResult:
        """Return a metric over all conditions (None) or for one; that of a group has its own name."""
        task = self.plan.task
        label = None if cell is None else task.conditions[cell].name
        planned = self.docs * self.plan.repeats * (len(task.conditions) if cell is None else 1)
        result = (
            self._single(metric, cell, label) if isinstance(metric, MetricSpec) else self._joint(metric, cell, label)
        )
        name, number, failed = result
        about: dict[str, Any] = {}
        if self.group is not None:
            name = f"{name}[{metric.by}={self.group}]"
            about = {"by": {"by": str(metric.by), "group": self.group}}
        return MetricResult(
            name=name,
            estimate=number,
            counts=self.tally.counts(planned, cell, metric.source if isinstance(metric, MetricSpec) else None),
            failed=metric.failed if isinstance(metric, MetricSpec) else None,
            n_failed=failed,
            higher_is_better=metric.higher_is_better,
            condition=label,
            primary=metric.primary and self.group is None,
            unit=metric.unit,
            definition=definition_of(metric, task.metrics),
            **about,
        )

    def _stream(self, metric: str, label: str | None) -> int:
        parts = (self.plan.task.name, metric, label)
        return derive(self.seed, "bootstrap", *parts, *(() if self.group is None else (self.group,)))

    def _single(self, metric: MetricSpec, cell: int | None, label: str | None) -> tuple[str, Estimate, int]:
        """Return name, estimate and number of failures of a metric of one score."""
        task = self.plan.task
        zero = metric.failed_value if metric.failed == "zero" else None
        kind = Grouping(task.cluster, metric.weight, self.plan.groups(metric.group) if metric.group else None)
        clusters, failed = self.tally.clusters(metric.source, zero, cell, kind)
        aggregation = self._aggregation(metric)
        if not isinstance(aggregation, Ratio):  # it may sort them in place, but other metrics use the same columns
            clusters = clusters.copied()
        elif metric.average != "micro" and self.group is None:
            groups = self._groups(str(metric.by))
            docs = self.tally.units(metric.source, zero, cell, kind)[1]
            clusters = averaged(aggregation, clusters, [groups[doc] for doc in docs], metric.average)
        if hasattr(aggregation, "read"):
            places = self.tally.places(metric.source, zero, cell, kind)
            (clusters,) = with_records(aggregation, [(clusters, places, self.stored())])
        scale = Scale(*metric.range, metric.binary)
        how = (metric.ci, self._stream(metric.name, label), scale)
        number = _estimate((metric.name, metric.aggregate.name), aggregation, clusters, *how)
        return self.used_resources.metric_name(task, metric, self.registry), number, failed

    def _joint(self, metric: CombinedMetric, cell: int | None, label: str | None) -> tuple[str, Estimate, int]:
        """Return name, estimate and number of failures of a metric made of others."""
        task = self.plan.task
        parts = [next(each for each in task.metrics if each.name == name) for name in metric.parts]
        aggregations = [(part, self._aggregation(part)) for part in parts]
        clusters, _, failed = part_clusters(self.tally, [_part(*each) for each in aggregations], cell, task.cluster)
        marks = [self.used_resources.metric_name(task, part, self.registry).removeprefix(part.name) for part in parts]
        method = "cluster_bootstrap" if metric.ci == "auto" else metric.ci
        aggregation = Combined(metric.how, len(parts))
        how = (method, self._stream(metric.name, label), Scale())
        number = _estimate((metric.name, metric.how), aggregation, clusters, *how)
        return f"{metric.name}{''.join(dict.fromkeys(marks))}", replace(number, n=number.clusters), failed


def with_records(
    aggregation: Any, sides: Sequence[tuple[Clusters, Sequence[Place], Iterable[ScoreRecord]]]
) -> list[Clusters]:
    """Pass the stored scores behind the values of each side to an aggregation, and return clusters of their indices."""
    records: list[ScoreRecord] = []
    indexed = []
    for clusters, places, stored in sides:
        by_place = {score.key[1:]: score for score in stored}
        indexed.append(clusters.replaced(len(records) + np.arange(len(places), dtype=np.float64)))
        records += [by_place[place] for place in places]
    aggregation.read(records)
    return indexed


Part = tuple[str, float | None, str | None, Aggregation]
"""A part of a combined metric: its score, the value of failures, its weight, its aggregation."""


def _part(metric: MetricSpec, aggregation: Aggregation) -> Part:
    zero = metric.failed_value if metric.failed == "zero" else None
    return metric.source, zero, metric.weight, aggregation


def part_clusters(
    tally: TaskTally, parts: Sequence[Part], cell: int | None, unit: str
) -> tuple[Clusters, list[str], int]:
    """Return the clusters of a combined metric, their docs, and the largest number of failures of a part."""
    part_values, most = [], 0
    names: dict[int, str] = {}
    for source, zero, weight, aggregation in parts:
        kind = Grouping(unit, weight)
        clusters, failed = tally.clusters(source, zero, cell, kind)
        numbers, docs = tally.units(source, zero, cell, kind)
        part_values.append((aggregation, clusters, numbers))
        names.update(zip(numbers.tolist(), docs, strict=True))
        most = max(most, failed)
    combined, unit_numbers = joined(part_values)
    return combined, [names[int(number)] for number in unit_numbers], most


def definition_of(metric: MetricSpec | CombinedMetric, known: Sequence[MetricSpec]) -> dict[str, Any]:
    """Return the definition of a metric, from which its scores can be aggregated again without the task."""
    if isinstance(metric, CombinedMetric):
        named = {spec.name: spec for spec in known}
        parts = [{"failed": named[name].failed, **definition_of(named[name], ())} for name in metric.parts]
        defaults = {"score": None, "aggregate": None, "weight": None, "group": None, "failed_value": 0.0}
        combination = {"of": {"how": metric.how, "parts": parts}, "range": [None, None], "binary": False}
        return {**defaults, **combination, "ci": "cluster_bootstrap" if metric.ci == "auto" else metric.ci}
    return {
        "score": metric.source,
        "aggregate": {"name": metric.aggregate.name, "parameters": dict(metric.aggregate.parameters)},
        "weight": metric.weight,
        "group": metric.group,
        "failed_value": metric.failed_value,
        "range": list(metric.range),
        "binary": metric.binary,
        "ci": metric.ci,
        **({"by": metric.by, "average": metric.average} if metric.by is not None else {}),
    }


def _estimate(
    named: tuple[str, str], aggregation: Aggregation, clusters: Clusters, method: str, stream: int, scale: Scale
) -> Estimate:
    """Aggregate. Raises ScoringError with the aggregation, file and line if it fails."""
    try:
        return estimate(aggregation, clusters, method, stream, scale)
    except CrevalError:
        raise
    except (Exception, SystemExit) as error:  # a plugin's own code
        what = f"the aggregation {named[1]!r} failed: {type(error).__name__}: {error} ({line_of(error)})"
        raise ScoringError(what, where=f"metric {named[0]}", fix="Correct the aggregation.") from error
