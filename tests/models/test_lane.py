"""The chat-completions lane against a real server."""

from __future__ import annotations

import asyncio
import dataclasses

from support.chat_server import Answer, ChatServer

from creval.models.opening import open_model
from creval.models.options import ModelOptions
from creval.plugins.registry import Registry


def run(spec, server, registry, request, options):
    """Open, ask once, close."""

    async def go():
        model = open_model(spec, registry, dataclasses.replace(options, base_url=server.url))
        try:
            return await model.generate(request)
        finally:
            await model.close()

    return asyncio.run(go())


def test_answer_usage_and_finish_reason_come_through(registry: Registry, ask, fast: ModelOptions) -> None:
    with ChatServer(answer="forty two") as server:
        reply = run("openai/m", server, registry, ask("What is it?", temperature=0.5, max_tokens=7), fast)
    assert reply.text == "forty two"
    assert reply.completions[0].finish_reason == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)
    assert reply.model == "m"
    assert server.requests[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is it?"}],
        "temperature": 0.5,
        "max_tokens": 7,
    }


def test_router_tells_provider_cost_and_reasoning(registry: Registry, ask, fast: ModelOptions) -> None:
    answer = Answer("so", reasoning="well then", cost=0.25, extra={"provider": "Acme"})
    with ChatServer([answer]) as server:
        reply = run("openrouter/maker/m", server, registry, ask(), fast)
    assert server.requests[0].body["model"] == "maker/m"
    assert (reply.served_by, reply.cost, reply.completions[0].reasoning) == ("Acme", 0.25, "well then")
    assert reply.usage.reasoning_tokens == 2
