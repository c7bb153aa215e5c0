"""Makes the helpers of these tests importable; the published workbook, written once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def pairs(reference_data: Path) -> list[dict[str, Any]]:
    """The published rows."""
    from macgyver_support import MACGYVER_PAIRS

    text = (reference_data / MACGYVER_PAIRS).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def workbook(pairs: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workbook of these rows."""
    from macgyver_support import write_workbook

    file = tmp_path_factory.mktemp("macgyver") / "pairs.xlsx"
    write_workbook(file, pairs)
    return file


@pytest.fixture
def read_once(pairs: list[dict[str, Any]], workbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the rows of that workbook from memory, by its content; any other is read."""
    from creval_openended.published import macgyver

    content, read = workbook.read_bytes(), macgyver.read_workbook
    monkeypatch.setattr(macgyver, "read_workbook", lambda file: pairs if file.read_bytes() == content else read(file))
