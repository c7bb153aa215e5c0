"""The page of worked parts shows the files of the example as they are; the packaging tests install and examine it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "examples" / "creval-wordchain"
PAGE = (ROOT / "docs" / "parts.md").read_text(encoding="utf-8")


def test_the_files_are_shown_as_they_are() -> None:
    shown = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    own = sorted(file for file in (HOME / "creval_wordchain").rglob("*.py") if file.name != "__init__.py")
    assert set(shown) == {*(file.name for file in own), "tasks/wordchain.yaml"}
    for name, text in shown.items():
        assert text == (HOME / "creval_wordchain" / name).read_text(encoding="utf-8"), name
    assert (HOME / "tests" / "test_wordchain.py").read_text(encoding="utf-8") in PAGE
