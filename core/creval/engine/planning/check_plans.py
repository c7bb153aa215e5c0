"""Checks before the first call: refuses what is sure to fail, and warns of settings that are probably mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from creval.data.check_task_data import check_components, check_fields
from creval.data.doc_fit import doc_problems
from creval.engine.planning.plan import TaskPlan
from creval.engine.run_options import RunOptions
from creval.errors import TaskError, UsageError
from creval.plugins.registry import Registry
from creval.tasks.sections.settings import generation_settings
from creval.tasks.yaml.schema import validator_for
from creval.tasks.yaml.wording import SchemaFault, say

__all__ = ["advice", "check_plan", "pinned_providers", "provider_advice"]


_ROUTER = "openrouter/"


def advice(plan: TaskPlan, options: RunOptions) -> list[str]:
    """Return the warnings about a task of a run."""
    task = plan.task
    if plan.repeats < 2:
        return []
    cells = [condition.settings for condition in task.conditions] or [{}]
    seeds = {{**task.generation, **cell, **options.generation}.get("seed") for cell in cells}
    fixed = sorted(seed for seed in seeds if isinstance(seed, int))
    if not fixed:
        return []
    return [
        f"the task {task.name!r} asks each doc {plan.repeats} times with the same seed ({fixed[0]}), so the "
        "repeats may be one answer over and over. For a different seed each time: --generation seed=sample"
    ]


def provider_advice(model: str, options: RunOptions) -> str | None:
    """Return a warning if a router may choose another provider for each call, None if one is pinned.

    Providers serve the same open model at different precisions, limits and prices, so numbers may depend on the
    provider.
    """
    if not model.startswith(_ROUTER) or pinned_providers(options.generation):
        return None
    return (
        f"{model}: no provider is pinned, so OpenRouter may choose another for each call, with another precision. "
        "Pin one: --generation 'extra.provider={order: [NAME], allow_fallbacks: false}' "
        "(the report says who answered)"
    )


def pinned_providers(generation: Mapping[str, Any]) -> list[str]:
    """Return the providers that settings pin, in their order: `provider.only`, or `provider.order` without
    fallbacks."""
    provider = generation.get("provider") or (generation.get("extra") or {}).get("provider")
    if not isinstance(provider, Mapping):
        return []
    providers = provider.get("only") or (provider.get("order") if provider.get("allow_fallbacks") is False else None)
    return [providers] if isinstance(providers, str) else [str(name) for name in providers or ()]


_OWN = frozenset({"model", "messages", "stream"})
"""Parts of a request that are not the user's to set."""


def check_plan(plan: TaskPlan, options: RunOptions, registry: Registry, docs: bool = True) -> None:
    """Check a task against its data and the run's options; with `docs` also each chosen doc.

    Raises TaskError (a template needs a field that the docs lack, a parser or scorer cannot be made), UsageError (a
    setting of the whole run has an impossible value; too few repeats for a metric).
    """
    problems = [*check_components(plan.task, registry), *check_fields(plan.task, plan.dataset, registry)]
    if docs and not problems:
        problems = [*islice(doc_problems(plan.task, plan.chosen_docs(), registry, plan.dataset), 1)]
    if problems:
        raise TaskError(problems)
    _check_values(options.generation)
    _check_n(plan, options, registry)
    _check_repeats(plan, registry)


def _check_values(generation: Mapping[str, Any]) -> None:
    """Check the settings of the whole run like those of a task file; null (the setting is not sent) is always valid."""
    if not generation:
        return
    known = generation_settings()
    for name, value in generation.items():
        if name in _OWN:
            raise UsageError(
                f"{name!r} is not a generation setting", where="--generation", fix=f"Leave {name} out of the settings."
            )
        if value is None or name not in known:
            continue
        error = next(validator_for(known[name]).iter_errors(value), None)
        if error is not None:
            what, fix = say(SchemaFault.of(error))
            raise UsageError(f"the setting {name} {what}", where="--generation", fix=fix)


def _check_n(plan: TaskPlan, options: RunOptions, registry: Registry) -> None:
    """Refuse a setting `n` that the protocol would override, or whose further answers it would drop."""
    task = plan.task
    counts = [settings.get("n") for settings in (task.generation, options.generation)]
    requested = [n for n in (*counts, *(condition.settings.get("n") for condition in task.conditions)) if n is not None]
    if not any(n != 1 for n in requested):
        return
    several = "n" in registry.get("protocol", task.protocol.name).parameters.get("properties", {})
    if several and task.protocol.parameters.get("n") is None:
        return
    what = "sets itself how many answers it requests" if several else "reads one answer of a call"
    raise UsageError(
        f"the protocol {task.protocol.name!r} of {task.name!r} {what}, so n={max(requested)} cannot be used",
        where="the setting n",
        fix="Leave n out of generation, conditions and --generation; or run each doc several times with --repeats.",
    )


def _check_sets(plan: TaskPlan, registry: Registry) -> None:
    """Check that a scorer of sets of answers gets several answers per doc."""
    several = any((condition.settings.get("n") or 1) > 1 for condition in plan.task.conditions)
    several |= any((settings.get("n") or 1) > 1 for settings in (plan.task.generation, plan.overrides))
    several |= (plan.task.protocol.parameters.get("n") or 1) > 1
    for ref in plan.task.score:
        needed = registry.get("scorer", ref.name).scorer_traits(ref.parameters).minimum_repeats
        if plan.repeats < needed and not several:
            raise UsageError(
                f"the scorer {ref.name!r} of {plan.task.name!r} compares the answers to a doc, but the run makes one",
                where="--repeats",
                fix=f"Add --repeats {needed} or more.",
            )


def _check_repeats(plan: TaskPlan, registry: Registry) -> None:
    _check_sets(plan, registry)
    for metric in plan.task.metrics:
        ref = metric.aggregate
        aggregation = registry.get("aggregation", ref.name).load()(**ref.parameters)
        needed = getattr(aggregation, "minimum_repeats", 1)
        if needed > 1 and plan.task.cluster == "trial":
            raise UsageError(
                f"the metric {metric.name!r} of {plan.task.name!r} compares the repeats of a doc, but the "
                "trials of the task are independent",
                where="cluster: trial",
                fix="Leave out cluster: trial, or aggregate by mean, rate or median.",
            )
        if plan.repeats < needed:
            raise UsageError(
                f"the metric {metric.name!r} of {plan.task.name!r} needs {needed} repeats of each doc; "
                f"the run makes {plan.repeats}",
                where="--repeats",
                fix=f"Add --repeats {needed} or more.",
            )
