"""The reference of the face is what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import creval.plugin.programs

ROOT = Path(__file__).resolve().parents[2]


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "tools" / "make_reference.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference-plugin.md").read_text(encoding="utf-8")
    assert written == maker().page(), "write it anew: python tools/make_reference.py"


def test_every_name_has_an_entry() -> None:
    written = (ROOT / "docs" / "reference-plugin.md").read_text(encoding="utf-8")
    names = {*creval.plugin.__all__, *creval.plugin.programs.__all__, *creval.plugin.params.__all__} - {"params"}
    assert [name for name in names if f"\n### `{name}`\n" not in written] == []
    assert "\n## `creval.plugin.params`\n" in written and "creval.plugin.lists" not in written
