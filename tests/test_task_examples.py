"""Every plugin of the tree is examined by the conformance suite, which runs the stated answers of each task."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(file.parent for file in (ROOT / "plugins").glob("*/pyproject.toml"))


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_it_is_examined(plugin: Path) -> None:
    text = (plugin / "tests" / "test_conformance.py").read_text(encoding="utf-8")
    assert f'TestConformance = conformance("{plugin.name}"' in text
