"""Protocols of the core."""

from __future__ import annotations

from creval.plugins import parameters as params
from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    registry.add(
        "protocol",
        "chat",
        "creval.engine.generation.chat:Chat",
        "one prompt, one answer (or n of them)",
        parameters=params.schema(n=params.integer(1)),
        prompts=("prompt",),
    )
