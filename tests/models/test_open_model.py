"""From names to models: who answers, and what is said where nobody does."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.imports import imported_by

from creval.errors import MissingPartError, UnknownNameError, UsageError
from creval.models.budget import Budget
from creval.models.model_options import ModelOptions, ModelSpec
from creval.models.open_model import open_model, provider_names
from creval.plugins.registry import Registry

LOCAL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openrouter/openai/gpt-5-mini", "openrouter", "openai/gpt-5-mini"),
        ("ollama_chat/llama3.2:1b", "ollama_chat", "llama3.2:1b"),
        ("replay//tmp/a.jsonl", "replay", "/tmp/a.jsonl"),
        (" just-a-name ", "", "just-a-name"),
    ],
)
def test_a_spec_is_split_at_the_first_slash(text: str, provider: str, model: str) -> None:
    spec = ModelSpec.parse(text)
    assert (spec.provider, spec.model) == (provider, model)


@pytest.mark.parametrize("bad", ["", " ", "/", "openai/", "/gpt"])
def test_half_a_name_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="provider/model"):
        ModelSpec.parse(bad)


def sent_model(registry: Registry, ask: Any, fast: ModelOptions, spec: str) -> str:
    """The model's name that a server at --base-url is asked for."""

    async def go(url: str) -> None:
        model = open_model(spec, registry, dataclasses.replace(fast, base_url=url))
        await model.generate(ask())
        await model.close()

    with ChatServer() as server:
        asyncio.run(go(server.url))
    return str(server.requests[0].body["model"])


@pytest.mark.parametrize(
    ("spec", "sent"),
    [
        ("openai/gpt-x", "gpt-x"),
        ("hosted_vllm/meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("openrouter/maker/m", "maker/m"),
        ("my-model", "my-model"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
        ("anthropic/claude", "anthropic/claude"),
    ],
)
def test_with_a_base_url_any_name_is_served_by_the_chat_provider(registry, ask, fast, spec: str, sent: str) -> None:
    assert sent_model(registry, ask, fast, spec) == sent


def test_unknown_provider_names_the_nearest(registry) -> None:
    with pytest.raises(UnknownNameError) as caught:
        open_model("openruter/openai/gpt-5-mini", registry)
    assert "openrouter" in caught.value.nearest
    assert "Did you mean" in str(caught.value)
    with pytest.raises(UnknownNameError) as caught:
        open_model("antropic/claude-x", registry)
    assert "anthropic" in caught.value.nearest


def test_without_litellm_its_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval.plugins.distributions.installed_version", lambda name: None)
    for spec in ("anthropic/claude-x", "litellm/anthropic/claude-x"):
        with pytest.raises((UnknownNameError, MissingPartError), match="pip install creval-litellm"):
            open_model(spec, Registry())


def test_a_name_without_a_provider_says_how_to_write_it(registry) -> None:
    with pytest.raises(UsageError, match="openai/gpt-5-mini"):
        open_model("gpt-5-mini", registry)


def test_provider_names_are_components_and_litellms() -> None:
    registry = Registry()
    registry.scoped("mine").add("provider", "mine", "m:a")
    assert provider_names(registry) == ["mine"]
    registry.scoped("litellm").add("provider", "litellm", "m:a")
    names = provider_names(registry)
    assert {"mine", "anthropic", "gemini"} <= set(names)
    assert names == sorted(names)


def test_a_missing_key_is_reported_before_anything_is_sent(registry) -> None:
    with pytest.raises(MissingPartError, match="export OPENROUTER_API_KEY="):
        open_model("openrouter/openai/gpt-5-mini", registry)


def test_max_cost_needs_a_price(registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    budget = ModelOptions(budget=Budget(max_cost=1.0))
    with pytest.raises(UsageError, match="no price"):
        open_model("openai/nobody-knows-it", registry, budget)
    assert open_model("openai/gpt-4o-mini", registry, budget).price is not None
    assert open_model("ollama_chat/llama3", registry, budget).traits.free


@pytest.mark.parametrize("spec", ["openai/gpt-4o-mini", "litellm/anthropic/claude", "anthropic/claude"])
def test_offline_refuses_what_is_on_the_network(registry, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    with pytest.raises(UsageError, match="--offline"):
        open_model(spec, registry, ModelOptions(offline=True))


def test_models_of_a_run_share_a_providers_limiter(registry) -> None:
    options = ModelOptions(base_url=LOCAL, concurrency=5)
    first, second = open_model("openai/a", registry, options), open_model("openai/b", registry, options)
    assert first._parts.limiter is second._parts.limiter
    assert first.stats().limit == 5.0


def test_a_plugins_provider_and_its_limit_are_respected(registry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.scoped("mine").add("provider", "mine", "support.own_provider:make")
    model = open_model("mine/tiny", registry, ModelOptions(concurrency=64, budget=Budget(max_cost=1.0)))
    assert (model.stats().limit, model.traits.free, model.spec) == (1.0, True, "mine/tiny")


HEAVY = ("litellm", "aiohttp", "pycurl", "openai", "httpx", "datasets", "torch", "pandas", "jsonschema", "numpy")


def test_opening_a_lane_imports_nothing_heavy() -> None:
    code = f"""
from creval.models.open_model import open_model
from creval.models.model_options import ModelOptions
from creval.plugins import builtin
from creval.plugins.registry import Registry
registry = Registry()
builtin.register_providers(registry)
model = open_model("openai/gpt-4o-mini", registry, ModelOptions(base_url="{LOCAL}"))
assert model.price is None
"""
    assert imported_by(code).isdisjoint(HEAVY)
