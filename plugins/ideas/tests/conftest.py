"""Runs of tasks with judges, and nothing of the user's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_fixtures import options, own_environment

__all__ = ["ideas_alone", "options", "own_environment"]


@pytest.fixture(autouse=True)
def ideas_alone(own_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Load this plugin, and that of the judges."""
    monkeypatch.setenv("CREVAL_PLUGINS", "ideas,judges,testing")
