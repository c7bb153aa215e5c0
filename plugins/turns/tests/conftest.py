"""What the tests of conversations share: nothing of the user's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_fixtures import install
from support.talker import talker
from support.user_environment import hide_user

__all__ = ["install", "own_environment", "talker"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys or addresses of the user, only this plugin and the page's commands, caches in the test's folder."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_PLUGINS", "turns,judges,page,testing")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
