"""The third step: the scores of a task become metrics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from creval.engine.planning.plan import TaskPlan
from creval.engine.planning.seeds import derive
from creval.engine.roles.ledger import UsageTally
from creval.engine.scoring.metric_results import MetricMaker, StoredScores
from creval.engine.scoring.tally import TaskTally
from creval.engine.scoring.used_resources import UsedResources, changed_sections
from creval.format import counted
from creval.plugins.registry import Registry
from creval.plugins.traits import Raters
from creval.runs.labelled import Labelled, people_notes
from creval.scoring.agreement import alpha_interval, krippendorff_alpha
from creval.types.metrics import MetricResult, StatusCounts

__all__ = ["TaskUsage", "aggregate_task", "task_results"]


class TaskUsage(NamedTuple):
    """What the calls for one task took: the target's, and those of each other role."""

    target: UsageTally
    roles: Mapping[str, UsageTally]

    def whole(self) -> UsageTally:
        """Return the sum over all roles."""
        whole = UsageTally()
        for each in (self.target, *self.roles.values()):
            whole.join(each)
        return whole


def aggregate_task(
    plan: TaskPlan, tally: TaskTally, used_resources: UsedResources, registry: Registry, seed: int, stored: StoredScores
) -> list[MetricResult]:
    """Return every metric over all conditions, then by condition where the task has several; groups after each.

    `stored` reads the scores that the tally was made of, for aggregations that need more than their numbers.
    """
    return list(MetricMaker(plan, tally, used_resources, registry, seed, plan.docs, stored).all())


def task_results(
    plan: TaskPlan,
    tallies: tuple[TaskTally, TaskUsage],
    metrics: list[MetricResult],
    used_resources: UsedResources,
    labelled: Labelled,
) -> dict[str, Any]:
    """Return one task's part of results.json; `labelled` says how far judges agreed with people in the run."""
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
        "counts": _counts(tally.counts(plan.total)),
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
    """Return how far several raters agree over the samples of a task; the seed of the interval is the score's."""
    columns = [tally.column(name) for name in raters.scores.values()]
    alpha, units, verdicts = krippendorff_alpha(columns, raters.level)
    found: dict[str, Any] = {"score": raters.score, "roles": list(raters.scores), "level": raters.level}
    found |= {"of": raters.of} if raters.of else {}
    seed = derive(0, "alpha", plan.task.name, raters.score)
    low, high = alpha_interval(columns, raters.level, tally.docs_of_samples, seed) or (None, None)
    return {**found, "alpha": alpha, "ci_low": low, "ci_high": high, "samples": units, "verdicts": verdicts}


def _jury_note(found: Mapping[str, Any]) -> str:
    alpha = "is not defined" if found["alpha"] is None else f"= {found['alpha']:.3f}"
    if found["ci_low"] is not None:
        alpha += f" (95 % interval {found['ci_low']:.3f} to {found['ci_high']:.3f})"
    over = f"{found['verdicts']} {found.get('of', 'verdicts')} on {counted(found['samples'], 'samples')}"
    return f"jury of {found['score']}: Krippendorff's alpha ({found['level']}) {alpha} over {over}"


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


def _counts(counts: StatusCounts) -> dict[str, int]:
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
        "counts": _counts(metric.counts),
        "higher_is_better": metric.higher_is_better,
        "primary": metric.primary,
        "unit": metric.unit,
        "definition": dict(metric.definition),
    }
