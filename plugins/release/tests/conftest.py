"""Runs to hold against a policy and to rank, and nothing of the user's own environment."""

from __future__ import annotations

import os

import pytest
from support.spellers import runs, said

__all__ = ["own_environment", "runs", "said"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys or addresses of the user, only the core's own plugin."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CREVAL_PLUGINS", "")
