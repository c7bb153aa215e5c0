"""litellm itself, through the client, against a real server. One import of litellm serves all tests here."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer, Garbage, Hang, HttpError, Reset

from creval.errors import FatalModelError, MissingPartError, RetryableModelError, UsageError
from creval.models.model_options import ProviderOptions
from creval.models.open_model import open_model
from creval.models.secrets import redact, secret_variables
from creval_litellm.provider import LitellmProvider

KEY = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def generate(url: str, *requests: Any, model: str = "openai/gpt-4o-mini", **options: Any) -> list[Any]:
    """One try each; errors as values."""

    async def go() -> list[Any]:
        provider = LitellmProvider(model, ProviderOptions(base_url=url, **options))
        results: list[Any] = []
        for request in requests:
            try:
                results.append(await provider.generate(request))
            except Exception as error:
                results.append(error)
        await provider.close()
        return results

    return asyncio.run(go())


def test_an_answer_with_all_that_belongs_to_it(ask) -> None:
    answer = Answer("so it is", reasoning="well then")
    with ChatServer([answer], answer="one two") as server:
        first, several = generate(server.url, ask(temperature=0.5, seed=7), ask(n=2, top_logprobs=2))
    assert (first.text, first.completions[0].reasoning, first.completions[0].finish_reason) == (
        "so it is",
        "well then",
        "stop",
    )
    assert first.usage.reasoning_tokens == 2
    body = server.requests[0].body
    assert (body["model"], body["temperature"], body["seed"]) == ("gpt-4o-mini", 0.5, 7)
    assert [c.text for c in several.completions] == ["one two", "one two 1"]
    assert several.completions[0].logprobs[0].top


def test_faults_are_judged_as_in_the_lane_and_litellm_never_retries(ask) -> None:
    script = [
        HttpError(429, {"message": "slow"}, retry_after=7),
        HttpError(500),
        Reset(),
        Garbage(),
        HttpError(
            400, {"message": "Unsupported parameter: 'top_k'", "param": "top_k", "code": "unsupported_parameter"}
        ),
        HttpError(401, {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}),
        HttpError(429, {"message": "no money", "code": "insufficient_quota", "type": "insufficient_quota"}),
        HttpError(404, {"message": "no such model", "code": "model_not_found"}),
        HttpError(400, {"message": "filtered", "code": "content_filter"}),
    ]
    with ChatServer(script) as server:
        results = generate(server.url, *[ask() for _ in script])
        assert len(server.requests) == len(script)
    limited, broken, reset, garbage, parameter, wrong_key, quota, unknown, filtered = results
    assert [type(r) for r in (limited, broken, reset, garbage)] == [RetryableModelError] * 4
    assert (limited.http_status, limited.retry_after) == (429, 7.0)
    assert [type(r) for r in (parameter, wrong_key, quota, unknown)] == [FatalModelError] * 4
    assert "--generation top_k=null" in str(parameter)
    assert "Yb9Nd" not in str(wrong_key) + repr(wrong_key)
    assert wrong_key.every_call
    assert "credit" in str(quota)
    assert filtered.completions[0].finish_reason == "content_filter"


def test_a_hanging_server_is_given_up(ask) -> None:
    with ChatServer([Hang()]) as server:
        (error,) = generate(server.url, ask(), timeout=0.5)
    assert isinstance(error, RetryableModelError)


def test_a_missing_key_names_its_variable(ask) -> None:
    async def go() -> None:
        provider = LitellmProvider("anthropic/claude-3-5-haiku-latest", ProviderOptions())
        await provider.generate(ask())

    with pytest.raises(MissingPartError, match="export ANTHROPIC_API_KEY="):
        asyncio.run(go())


def test_a_provider_that_litellm_lacks(ask) -> None:
    async def go() -> None:
        await LitellmProvider("no_such_provider/m", ProviderOptions()).generate(ask())

    with pytest.raises(UsageError, match="no_such_provider"):
        asyncio.run(go())


@pytest.mark.parametrize("bad", ["gpt-x", "openai/"])
def test_a_name_without_its_provider(bad: str) -> None:
    with pytest.raises(UsageError, match="provider"):
        LitellmProvider(bad, ProviderOptions())


def test_nothing_of_litellm_is_switched_on(ask) -> None:
    with ChatServer() as server:
        generate(server.url, ask())
    import litellm

    assert (litellm.telemetry, litellm.num_retries, litellm.drop_params) == (False, 0, False)
    assert (litellm.callbacks, litellm.success_callback, litellm.failure_callback) == ([], [], [])


def test_through_the_facade_with_price_and_retries(registry, ask, fast) -> None:
    async def go(url: str) -> Any:
        model = open_model("litellm/openai/gpt-4o-mini", registry, dataclasses.replace(fast, base_url=url))
        try:
            return await model.generate(ask("one two three"))
        finally:
            await model.close()

    with ChatServer([HttpError(429, retry_after=1), Reset()], answer="four five") as server:
        reply = asyncio.run(go(server.url))
    assert (reply.text, reply.attempts) == ("four five", 3)
    assert reply.cost is not None
    assert 0 < reply.cost < 1e-4


def test_paths_are_no_keys_once_litellm_is_loaded(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """litellm sets TIKTOKEN_CACHE_DIR, whose name holds the word TOKEN: paths in errors stay whole all the same."""
    with ChatServer(answer="x") as server:
        generate(server.url, ask("1"))
    import litellm

    folder = str(Path(litellm.__file__).parent)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", f"{folder}/litellm_core_utils/tokenizers")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", folder)  # any variable that holds a path of this machine
    for path in (litellm.__file__, folder, f"{folder}/llms/openai.py:12"):
        assert redact(f"failed in {path}") == f"failed in {path}"
    assert folder not in secret_variables().values()
    assert "TIKTOKEN_CACHE_DIR" not in secret_variables()
    monkeypatch.setenv("SLASH_API_KEY", "/b3ZlciB0aGVyZSBpcyBub3RoaW5n")  # a key may begin with a slash
    assert redact("it was /b3ZlciB0aGVyZSBpcyBub3RoaW5n") == "it was [key]"
