"""Options of runs with judges, and nothing of the user's own environment."""

from __future__ import annotations

import pytest
from support.run_fixtures import options, own_environment

__all__ = ["judges_alone", "options", "own_environment"]


@pytest.fixture(autouse=True)
def judges_alone(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the plugin with the scorer `judge`, and no other."""
    monkeypatch.setenv("CREVAL_PLUGINS", "judges")
