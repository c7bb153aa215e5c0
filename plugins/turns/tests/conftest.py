"""What the tests of conversations share: nothing of the user's own environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.run_fixtures import install
from support.talker import talker

__all__ = ["install", "own_environment", "talker"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys or addresses of the user, only this plugin and the page's commands, caches in the test's folder."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CREVAL_PLUGINS", "turns,judges,page,testing")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
