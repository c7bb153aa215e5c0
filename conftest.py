"""Fixtures that every test of the core and of the plugins may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of reference data (papers' and authors' own numbers); the test is skipped where it is absent."""
    for candidate in (os.environ.get("CREVAL_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    pytest.skip("reference data not found: set CREVAL_DATA to its folder")
