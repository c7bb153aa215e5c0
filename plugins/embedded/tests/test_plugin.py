"""The plugin registers names and imports nothing heavy."""

from __future__ import annotations

from support.imports import imported_by

from creval.plugins.registry import Registry
from creval_embedded import plugin


def test_components_and_their_targets() -> None:
    registry = Registry().scoped("embedded")
    plugin.creval_components(registry)
    assert [(c.kind, c.name) for c in registry.all()] == [("embedding", "embedded"), ("provider", "embedded")]
    for component in registry.all():
        assert callable(component.load())


def test_importing_the_plugin_imports_no_library() -> None:
    heavy = {"xllamacpp", "tokenizers", "torch", "numpy", "scipy", "pyarrow", "onnxruntime", "click"}
    assert heavy & imported_by("import creval_embedded.plugin") == set()
