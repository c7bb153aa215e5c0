"""Fixtures of tests that open models: the providers, requests, options, and no keys of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.user_environment import hide_user

from creval.models.model_options import ModelOptions
from creval.plugins import builtin as builtin_models
from creval.plugins.registry import Registry
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey
from creval_litellm.plugin import creval_components as litellm_components

__all__ = ["Ask", "ask", "fast", "no_keys", "registry"]

Ask = Callable[..., GenerateRequest]


@pytest.fixture
def registry() -> Registry:
    """A registry with the core's own model providers, and litellm."""
    registry = Registry()
    builtin_models.register_providers(registry.scoped("core"))
    litellm_components(registry.scoped("litellm"))
    return registry


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without keys and addresses, so that no test depends on the user's own."""
    hide_user(monkeypatch)


@pytest.fixture
def ask() -> Ask:
    """Make a request: text, n, sample identity by keyword, everything else a setting."""

    def make(
        text: str = "Say something.",
        n: int = 1,
        *,
        task: str = "t",
        doc: str = "0",
        condition: str = "default",
        repeat: int = 0,
        role: str = "target",
        call: int = 0,
        **settings: Any,
    ) -> GenerateRequest:
        origin = Origin(SampleKey(task, doc, condition, repeat), role, call)
        return GenerateRequest((Message("user", text),), settings, origin, n)

    return make


@pytest.fixture
def fast() -> ModelOptions:
    """Options that retry without waiting by the clock."""
    return ModelOptions(backoff_base=0.0, backoff_cap=0.0, retry_after_cap=0.0, timeout=300.0)
