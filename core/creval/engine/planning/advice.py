"""What a run may do as it is asked, though the user hardly wants it: said once, before the first call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.engine.planning.plan import TaskPlan
from creval.engine.run_options import RunOptions

__all__ = ["advice", "pinned_providers", "provider_advice"]

_ROUTER = "openrouter/"


def advice(plan: TaskPlan, options: RunOptions) -> list[str]:
    """Return what should be said about a task of a run."""
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
        "repeats may be one answer over and over. For a seed of its own each time: --generation seed=sample"
    ]


def provider_advice(model: str, options: RunOptions) -> str | None:
    """Return what should be said where a router may choose another provider for each call; None where one is pinned.

    Providers serve one open model at different precisions, limits and prices, so numbers may differ by who answered.
    """
    if not model.startswith(_ROUTER) or pinned_providers(options.generation):
        return None
    return (
        f"{model}: no provider is pinned, so OpenRouter may let another answer each call, at a precision of its own. "
        "Pin one: --generation 'extra.provider={order: [NAME], allow_fallbacks: false}' "
        "(who answered stands in the report)"
    )


def pinned_providers(generation: Mapping[str, Any]) -> list[str]:
    """Return the providers that generation settings pin, in their order: `provider.only`, or `provider.order` where
    others are not fallen back on."""
    provider = generation.get("provider") or (generation.get("extra") or {}).get("provider")
    if not isinstance(provider, Mapping):
        return []
    found = provider.get("only") or (provider.get("order") if provider.get("allow_fallbacks") is False else None)
    return [found] if isinstance(found, str) else [str(name) for name in found or ()]
