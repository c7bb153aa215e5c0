"""Runs of tasks with judges, and nothing of the user's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_fixtures import options, own_environment

__all__ = ["options", "own_environment", "prism_alone"]


@pytest.fixture(autouse=True)
def prism_alone(own_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Load this plugin and those that it builds on."""
    plugins = "creativityprism,association,embedded,encoders,judges,neocoder,sandbox,testing"
    monkeypatch.setenv("CREVAL_PLUGINS", plugins)
