"""What the core itself brings, registered like any plugin under the name `core`: names and targets only."""

from __future__ import annotations

from creval.plugins.builtin import baselines, executors, models, parsing, protocols, resources, scoring, sources
from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add every component of the core to the registry."""
    for part in (sources, models, baselines, protocols, parsing, scoring, resources, executors):
        part.register(registry)
