"""The chat-completions client against a real server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import resource
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
from creval.models.model_options import ProviderOptions
from creval.models.open_model import open_model
from creval.models.providers.chat_provider import chat, hosted_vllm, ollama_chat, openai, openrouter
from creval.types.messages import GenerateRequest, LostUsage, Message, Reply, Usage

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


def test_truncation_and_refusal_are_recognised_by_the_reply(ask) -> None:
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
        (Garbage(), "not JSON"),
        (Html(), r"not JSON: an HTML page \(Bad Gateway\)"),
        (EmptyChoices(), "no choices"),
        (Raw(b""), "not JSON: nothing"),
        (Raw(b"[" * 100_000), "not JSON"),
        (Raw(b"\xff\xfe\x00"), "not JSON"),
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
    shown = f"{caught.value!s} {caught.value!r} {provider!r} {provider.__dict__['_address']!r} {provider.traits!r}"
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


def events(*parts: dict[str, Any] | str, kind: str = "text/event-stream") -> Raw:
    """A stream of server-sent events."""
    lines = [f"data: {part if isinstance(part, str) else json.dumps(part)}\r\n\r\n" for part in parts]
    return Raw((": waiting\r\n\r\n" + "".join(lines)).encode(), kind)


def delta(text: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": None, **more}]}


USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_stream_that_nobody_asked_for_is_read(ask, kind: str) -> None:
    thought = {"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "hm"}}]}
    logprobs = {"content": [{"token": "Hel", "logprob": -1.0}]}
    stream = events(
        thought, delta("Hel", logprobs=logprobs), delta("lo", finish_reason="stop"), USAGE, "[DONE]", kind=kind
    )
    with ChatServer([stream]) as server:
        (reply,) = generate(openai, server.url, ask(logprobs=True))
    (completion,) = reply.completions
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("Hello", "hm", "stop")
    assert completion.logprobs is not None
    assert [token.token for token in completion.logprobs] == ["Hel"]
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (3, 2, "m")


def test_several_answers_in_one_stream(ask) -> None:
    stream = events(delta("b", 1), delta("a"), delta("!", 1, finish_reason="stop"), delta("", finish_reason="length"))
    with ChatServer([stream]) as server:
        (reply,) = generate(openai, server.url, ask(n=2))
    assert [(c.text, c.finish_reason) for c in reply.completions] == [("a", "length"), ("b!", "stop")]


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (events(delta("half"), {"error": {"message": "upstream died", "code": 502}}), "upstream died"),
        (events(delta("half"), "{not json"), "not JSON"),
        (events("[DONE]"), "no choices"),
        (events("7"), "not JSON"),
    ],
)
def test_a_stream_that_breaks_off_is_a_fault_that_may_pass(ask, stream: Raw, words: str) -> None:
    with ChatServer([stream]) as server, pytest.raises(RetryableModelError, match=words):
        generate(openai, server.url, ask())


def test_a_stream_without_an_end_has_no_finish_reason(ask) -> None:
    with ChatServer([events(delta("half"))]) as server:
        (reply,) = generate(openai, server.url, ask())
    assert reply.completions[0].finish_reason == "unknown"  # which the model takes as broken off


@pytest.mark.parametrize("options_known", [True, False])
def test_a_server_that_answers_only_as_a_stream_is_asked_for_one(ask, fast, registry, options_known: bool) -> None:
    def only_streams(request: Any) -> Any:
        if not request.body.get("stream"):
            return HttpError(
                400, {"message": "This model only support stream mode, please enable the stream parameter"}
            )
        if "stream_options" in request.body and not options_known:
            return HttpError(400, {"message": "Unrecognized request argument supplied: stream_options"})
        return events(delta("fine", finish_reason="stop"), "[DONE]")

    async def go(url: str) -> list[str]:
        model = open_model("openai/m", registry, dataclasses.replace(fast, base_url=url))
        texts = [(await model.generate(ask(str(i)))).text for i in range(2)]
        await model.close()
        return texts

    with ChatServer(only_streams) as server:
        assert asyncio.run(go(server.url)) == ["fine", "fine"]
    assert len(server.requests) == (3 if options_known else 4)
    assert server.requests[-1].body["stream"] is True


def test_two_choices_for_one_question_are_one_answer(ask) -> None:
    with ChatServer([Answer("first", choices=2)]) as server:
        (reply,) = generate(openai, server.url, ask())
    assert [c.text for c in reply.completions] == ["first"]


def test_an_error_in_any_choice_is_tried_again_and_reports_what_it_took(ask) -> None:
    choices = [
        {"index": 0, "message": {"content": "fine"}, "finish_reason": "stop"},
        {"index": 1, "message": {"content": "ha"}, "error": {"message": "worker died", "code": 502}},
    ]
    body = {"choices": choices, "usage": {"prompt_tokens": 5, "completion_tokens": 9, "cost": 0.25}}
    with ChatServer([Raw(json.dumps(body).encode())]) as server, pytest.raises(RetryableModelError) as failed:
        generate(openai, server.url, ask(n=2))
    assert failed.value.lost == LostUsage(1, Usage(5, 9), 0.25)


def test_a_content_flag_within_a_reply_is_a_refusal_whatever_its_code(ask) -> None:
    error = {"message": "Provider returned error", "code": 502, "metadata": {"raw": "blocked: content_filter"}}
    with ChatServer([Raw(json.dumps({"error": error}).encode())]) as server:
        (reply,) = generate(openrouter, server.url, ask())
    assert reply.completions[0].finish_reason == "content_filter"


def test_vllm_continues_with_the_assistants_message(ask) -> None:
    begun = dataclasses.replace(ask(), messages=(Message("user", "Count."), Message("assistant", "one, two,")))
    with ChatServer() as server:
        generate(hosted_vllm, server.url, begun, ask())
        generate(openai, server.url, begun)
    assert server.requests[0].body["continue_final_message"] is True
    assert server.requests[0].body["add_generation_prompt"] is False
    assert all("continue_final_message" not in request.body for request in server.requests[1:])
    assert hosted_vllm("m", ProviderOptions(base_url="http://127.0.0.1/v1")).traits.continues


def test_a_handshake_that_never_ends_counts_in_the_time_to_connect(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server takes the connection and says nothing: TLS never comes about."""
    monkeypatch.setattr("creval.models.providers.http_settings.CONNECT_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(RetryableModelError, match=r"no connection within 0\.3 s"):
            generate(openai, url, ask(), timeout=60.0)


def test_too_many_open_files_are_reported_in_words(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ChatServer() as server:
        generate(openai, server.url, ask())  # imports what a call needs
        opened = [os.open("/dev/null", os.O_RDONLY)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened[0] + 12, hard))
        try:
            with pytest.raises(RetryableModelError, match=r"too many files are open\n.*ulimit -n"):
                asyncio.run(many_at_once(server.url, ask))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            os.close(opened[0])


async def many_at_once(url: str, ask: Any) -> None:
    provider = openai("m", ProviderOptions(base_url=url))
    try:
        await asyncio.gather(*(provider.generate(ask(str(i))) for i in range(40)))
    finally:
        await provider.close()
