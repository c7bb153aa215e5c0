"""What the tests of log-likelihoods share: models, and nothing of the user's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.run_fixtures import install
from support.user_environment import hide_user

from creval.models.model_options import ModelOptions
from creval.plugins import builtin
from creval.plugins.registry import Registry
from creval_likelihoods.plugin import creval_components
from creval_litellm import plugin as litellm

__all__ = ["fast", "install", "own_environment", "registry"]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys or addresses of the user, only this plugin, caches in the test's folder."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_PLUGINS", "likelihoods")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def registry() -> Registry:
    """A registry with the core's providers and litellm, and those that give log-likelihoods."""
    registry = Registry()
    builtin.register_providers(registry.scoped("core"))
    litellm.creval_components(registry.scoped("litellm"))
    creval_components(registry.scoped("likelihoods"))
    return registry


@pytest.fixture
def fast() -> ModelOptions:
    """Options that retry without waiting by the clock."""
    return ModelOptions(backoff_base=0.0, backoff_cap=0.0, retry_after_cap=0.0, timeout=300.0)
