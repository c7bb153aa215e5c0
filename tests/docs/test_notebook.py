"""The notebook of the docs: executed anew it shows what is in it, and its page is made from it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK, PAGE = ROOT / "docs" / "notebook.ipynb", ROOT / "docs" / "notebook.md"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("make_notebook", ROOT / "tools" / "make_notebook.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_executed_anew_it_shows_what_is_in_it() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    again = tool().executed(NOTEBOOK)
    assert len(again.cells) == len(stored.cells) > 10
    for one, other in zip(again.cells, stored.cells, strict=True):
        assert one.get("outputs") == other.get("outputs"), one.source


def test_its_page_is_made_from_it_and_names_no_place_of_a_machine() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    text = PAGE.read_text(encoding="utf-8")
    assert text == tool().page_text(stored), "run: python tools/make_notebook.py"
    assert all(f" src={quote}" not in text and "/home/" not in text for quote in "\"'")
    assert "done: 30 samples" in text and "verdict" in text
