"""What the tests of batches share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.run_fixtures import install, make_task, options, server
from support.user_environment import hide_user

__all__ = ["install", "make_task", "notes", "options", "own_environment", "server"]

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys or addresses of the user, only this plugin, caches in the test's folder."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_PLUGINS", "batches,judges,litellm")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The path of a journal of batches."""
    return tmp_path / "batches.jsonl"
