"""What the tests of batches share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where a book of batches stands."""
    return tmp_path / "batches.jsonl"
