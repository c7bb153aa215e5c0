"""Runs of tasks with judges, and nothing of the user's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_fixtures import options, own_environment, server

__all__ = ["judges_alone", "options", "own_environment", "server"]


@pytest.fixture(autouse=True)
def judges_alone(own_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Load this plugin and no other."""
    monkeypatch.setenv("CREVAL_PLUGINS", "judges")
