"""The plugin registers an encoder and a provider."""

from __future__ import annotations

from creval.plugins.registry import Registry
from creval_embedded import plugin


def test_components() -> None:
    registry = Registry().scoped("embedded")
    plugin.creval_components(registry)
    assert [(c.kind, c.name) for c in registry.all()] == [("embedding", "embedded"), ("provider", "embedded")]
