"""The chat-completions lane against a real server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
from typing import Any

import pytest
from support.chat_server import (
    Answer,
    ChatServer,
    EmptyChoices,
    Garbage,
    Hang,
    Html,
    HttpError,
    Raw,
    Reset,
    word_answer,
)

from creval.errors import FatalModelError, ModelError, RetryableModelError, UsageError
from creval.models.lanes.chat_lane import chat, ollama_chat, openai, openrouter
from creval.models.options import ProviderOptions
from creval.types.messages import GenerateRequest, Message, Reply

KEY = "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"


def generate(make: Any, url: str, *requests: GenerateRequest, model: str = "m", **options: Any) -> list[Reply]:
    """Ask a provider directly, one try each."""

    async def go() -> list[Reply]:
        provider = make(model, ProviderOptions(base_url=url, **options))
        try:
            return [await provider.generate(request) for request in requests]
        finally:
            await provider.close()

    return asyncio.run(go())


def test_sends_just_what_was_asked_and_reads_the_answer(ask) -> None:
    with ChatServer(answer="forty two") as server:
        (reply,) = generate(openai, server.url, ask("What is it?", temperature=0.5, max_tokens=7, seed=None))
    assert server.requests[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is it?"}],
        "temperature": 0.5,
        "max_tokens": 7,
    }
    assert (reply.text, reply.completions[0].finish_reason, reply.model) == ("forty two", "stop", "m")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)
    assert reply.latency > 0


def test_every_setting_of_the_protocol_is_sent(ask) -> None:
    settings = {
        "top_p": 0.9,
        "seed": 7,
        "stop": ["\n"],
        "response_format": {"type": "json_object"},
        "frequency_penalty": 0.1,
        "reasoning_effort": "low",
    }
    with ChatServer() as server:
        generate(openai, server.url, ask(**settings))
    assert settings.items() <= server.requests[0].body.items()


def test_several_completions_with_log_probabilities(ask) -> None:
    with ChatServer(answer="one two") as server:
        (reply,) = generate(openai, server.url, ask(n=3, top_logprobs=2))
    assert (server.requests[0].body["n"], server.requests[0].body["logprobs"]) == (3, True)
    assert [c.text for c in reply.completions] == ["one two", "one two 1", "one two 2"]
    tokens = reply.completions[0].logprobs
    assert tokens is not None
    assert [t.token for t in tokens] == ["one", "two"]
    assert all(t.logprob <= 0 and len(t.top) == 2 for t in tokens)


def test_router_tells_provider_cost_and_reasoning(ask) -> None:
    answer = Answer("so", reasoning="well then", cost=0.25, extra={"provider": "Acme"})
    with ChatServer([answer]) as server:
        (reply,) = generate(openrouter, server.url, ask(), model="maker/m")
    assert server.requests[0].body["model"] == "maker/m"
    assert (reply.served_by, reply.cost, reply.completions[0].reasoning) == ("Acme", 0.25, "well then")
    assert reply.usage.reasoning_tokens == 2


def test_truncation_and_refusal_are_told_by_the_reply(ask) -> None:
    with ChatServer([Answer("cut", finish_reason="length"), Answer("", refusal="I will not.")]) as server:
        cut, refused = generate(openai, server.url, ask(), ask())
    assert cut.completions[0].finish_reason == "length"
    assert refused.completions[0].refusal == "I will not."


def test_a_content_filter_is_a_refusal_not_a_fault(ask) -> None:
    stopped = HttpError(400, {"message": "The prompt was filtered", "code": "content_filter"})
    with ChatServer([stopped]) as server:
        (reply,) = generate(openai, server.url, ask())
    assert (reply.completions[0].finish_reason, reply.completions[0].refusal) == (
        "content_filter",
        "The prompt was filtered",
    )


@pytest.mark.parametrize(
    ("model", "make", "limit"),
    [
        ("gpt-5-mini", openai, "max_completion_tokens"),
        ("gpt-5.2", openai, "max_completion_tokens"),
        ("o3", openai, "max_completion_tokens"),
        ("o4-mini-2025-04-16", openai, "max_completion_tokens"),
        ("gpt-4o", openai, "max_tokens"),
        ("olmo-2", openai, "max_tokens"),
        ("o1x", openai, "max_tokens"),
        ("openai/gpt-5-mini", openrouter, "max_tokens"),
        ("gpt-5-mini", chat, "max_tokens"),
    ],
)
def test_the_answers_limit_by_the_name_that_the_model_knows(ask, model: str, make: Any, limit: str) -> None:
    with ChatServer() as server:
        generate(make, server.url, ask(max_tokens=9), model=model)
    sent = server.requests[0].body
    assert {name: sent[name] for name in sent if name.startswith("max_")} == {limit: 9}


@pytest.mark.parametrize("name", ["model", "messages", "n", "stream"])
def test_what_is_not_the_users_to_set_is_refused(ask, name: str) -> None:
    with ChatServer() as server, pytest.raises(UsageError, match=name):
        request = dataclasses.replace(ask(), settings={name: 1})
        generate(openai, server.url, request)


def test_a_setting_that_is_no_json_is_refused(ask) -> None:
    with ChatServer() as server, pytest.raises(UsageError, match="JSON"):
        generate(openai, server.url, ask(temperature=float("nan")))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Garbage(), "no JSON"),
        (Html(), r"no JSON: an HTML page \(Bad Gateway\)"),
        (EmptyChoices(), "no choices"),
        (Raw(b""), "no JSON: nothing"),
        (Raw(b"[" * 100_000), "no JSON"),
        (Raw(b"\xff\xfe\x00"), "no JSON"),
        (Raw(b"null"), "NoneType"),
        (Raw(b'{"error": {"message": "overloaded", "code": 502}}'), "overloaded"),
        (Raw(b'{"choices": [{"finish_reason": "error", "message": {"content": "par"}}]}'), "broke off"),
        (Reset(), "connection failed"),
        (HttpError(500, {"message": "oops"}), "HTTP 500.*oops"),
        (HttpError(503, "<html><title>Down</title>"), "HTTP 503.*Down"),
        (HttpError(429, retry_after=3), "HTTP 429"),
    ],
)
def test_faults_that_may_pass(ask, fault: Any, words: str) -> None:
    with ChatServer([fault]) as server, pytest.raises(RetryableModelError, match=words) as caught:
        generate(openai, server.url, ask())
    assert server.url in str(caught.value)


@pytest.mark.parametrize("after", ["3", "3.0"])
def test_retry_after_is_read(ask, after: str) -> None:
    with ChatServer([HttpError(429, retry_after=after)]) as server, pytest.raises(RetryableModelError) as caught:
        generate(openai, server.url, ask())
    assert (caught.value.retry_after, caught.value.http_status) == (3.0, 429)


def test_a_hanging_server_is_given_up(ask) -> None:
    with ChatServer([Hang()]) as server, pytest.raises(RetryableModelError, match=r"no answer within 0\.2 s"):
        generate(openai, server.url, ask(), timeout=0.2)


def test_a_reply_may_not_be_endless(ask) -> None:
    with ChatServer(answer="word " * 100_000) as server, pytest.raises(RetryableModelError, match="longer than 10000"):
        generate(openai, server.url, ask(), max_response_bytes=10_000)


def test_a_server_that_is_not_there(ask) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(RetryableModelError, match="Check that the server runs"):
            generate(openai, url, ask())


def test_a_redirect_is_not_followed_with_the_key(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer() as other:
        moved = HttpError(307, "moved", headers={"Location": f"{other.url}/chat/completions"})
        with ChatServer([moved]) as server, pytest.raises(FatalModelError, match="base URL"):
            generate(openai, server.url, ask())
    assert other.requests == []


def test_the_key_is_sent_and_never_shown(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    echo = HttpError(401, {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"})
    with ChatServer([echo]) as server, pytest.raises(FatalModelError) as caught:
        generate(openai, server.url, ask())
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    provider = openai("m", ProviderOptions(base_url=server.url))
    shown = f"{caught.value!s} {caught.value!r} {provider!r} {provider.__dict__['_place']!r} {provider.traits!r}"
    assert "Yb9Nd" not in shown


def test_connections_are_kept_and_shared(ask) -> None:
    async def go(url: str) -> None:
        provider = openai("m", ProviderOptions(base_url=url))
        for _ in range(5):
            await asyncio.gather(*(provider.generate(ask(str(i))) for i in range(8)))
        await provider.close()

    with ChatServer(latency=0.01) as server:
        asyncio.run(go(server.url))
        assert len(server.requests) == 40
        assert server.connection_count <= 8
        assert server.most_in_flight > 1


def test_answers_reach_the_callers_who_asked(ask) -> None:
    async def go(url: str) -> list[tuple[str, str]]:
        provider = openai("m", ProviderOptions(base_url=url))

        async def one(i: int) -> tuple[str, str]:
            return f"echo {i}", (await provider.generate(ask(f"{i}"))).text

        try:
            return await asyncio.gather(*(one(i) for i in range(100)))
        finally:
            await provider.close()

    with ChatServer(answer=lambda request: f"echo {request.prompt}") as server:
        pairs = asyncio.run(go(server.url))
    assert all(want == got for want, got in pairs)


def test_a_cancelled_call_closes_cleanly(ask) -> None:
    async def go(server: ChatServer) -> str:
        provider = openai("m", ProviderOptions(base_url=server.url))
        task = asyncio.ensure_future(provider.generate(ask()))
        while not server.in_flight:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        text = (await provider.generate(ask())).text
        await provider.close()
        return text

    with ChatServer([Hang()], answer="still here") as server:
        assert asyncio.run(go(server)) == "still here"


def test_ollama_is_asked_at_its_chat_completions_address(ask) -> None:
    with ChatServer() as server:
        generate(ollama_chat, server.url.removesuffix("/v1"), ask(), model="llama3.2:1b")
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body["model"] == "llama3.2:1b"


def test_odd_texts_arrive_unchanged(ask) -> None:
    text = 'Grüße \U0001f600 "quoted" \\ \x00 \u2028 end'
    with ChatServer(answer=lambda request: request.prompt) as server:
        (reply,) = generate(openai, server.url, dataclasses.replace(ask(), messages=(Message("user", text),)))
    assert reply.text == text


def test_the_test_servers_answer_depends_on_the_messages_alone(ask) -> None:
    with ChatServer() as server:
        replies = generate(openai, server.url, ask("a", temperature=1.0), ask("a", temperature=0.0), ask("b"))
    assert replies[0].text == replies[1].text == word_answer(server.requests[0])
    assert json.dumps(server.requests[2].body["messages"]) != json.dumps(server.requests[0].body["messages"])


def test_errors_of_the_lane_are_model_errors(ask) -> None:
    """So that each ends as one errored sample."""
    with ChatServer([HttpError(418, "teapot")]) as server, pytest.raises(ModelError):
        generate(openai, server.url, ask())
