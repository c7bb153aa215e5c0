"""Shared heavy objects: embeddings, entailment models, word lists, each opened on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval.resources.open_resource import open_resource
    from creval.resources.resource_options import ResourceOptions

__all__ = ["ResourceOptions", "open_resource"]

_MODULES = {"open_resource": "creval.resources.open_resource", "ResourceOptions": "creval.resources.resource_options"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    import importlib

    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'creval.resources' has no attribute {name!r}")
