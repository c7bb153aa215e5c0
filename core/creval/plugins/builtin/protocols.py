"""Protocols of the core."""

from __future__ import annotations

from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
