"""The executor of the core."""

from __future__ import annotations

from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add it to the registry."""
    registry.add(
        "executor",
        "local",
        "creval.engine.execution:LocalExecutor",
        "the event loop of the command itself",
    )
