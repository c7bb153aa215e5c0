"""Register the executor `ray`. Imports nothing heavy: `ray` itself only when a run uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the executor."""
    registry.add("executor", "ray", "creval_ray.executor:RayExecutor", "workers of a Ray cluster, or of this machine")
