"""Runs to hold against a policy and to rank, and nothing of the user's own environment."""

from __future__ import annotations

import pytest
from support.spellers import runs, said
from support.user_environment import hide_user

__all__ = ["own_environment", "runs", "said"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys or addresses of the user, only the core's own plugin."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_PLUGINS", "")
