"""The plugin registers names and imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from creval.plugins.registry import Registry
from creval_embedded import plugin


def test_components_and_their_targets() -> None:
    registry = Registry().scoped("embedded")
    plugin.creval_components(registry)
    assert [(c.kind, c.name) for c in registry.all()] == [("embedding", "embedded"), ("provider", "embedded")]
    for component in registry.all():
        assert callable(component.load())


def test_importing_the_plugin_imports_no_library() -> None:
    code = (
        "import sys, creval_embedded.plugin\n"
        "heavy = {'xllamacpp', 'tokenizers', 'torch', 'numpy', 'scipy', 'pyarrow', 'onnxruntime', 'click'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
