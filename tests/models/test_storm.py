"""Thirty percent of all requests fail in every way there is: nothing is lost, doubled or taken for an answer."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from support.chat_server import ChatServer, Received, Storm

from creval.errors import ModelError
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.types.messages import Reply

CALLS = 400
PASSING = ("429", "500", "503", "reset", "empty", "garbage", "html", "nochoices")


def echo(request: Received) -> str:
    return f"echo of {request.prompt}"


async def storm(registry: Any, ask: Any, options: ModelOptions, spec: str) -> tuple[list[Any], Any]:
    model = open_model(spec, registry, options)
    try:
        calls = (model.generate(ask(f"prompt {i}", doc=str(i))) for i in range(CALLS))
        return await asyncio.gather(*calls, return_exceptions=True), model.stats()
    finally:
        await model.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_call_gets_its_own_answer_in_the_end(registry, ask, fast: ModelOptions, seed: int) -> None:
    weather = Storm(0.3, PASSING, seed)
    with ChatServer(weather, answer=echo) as server:
        options = dataclasses.replace(fast, base_url=server.url, timeout=300.0, max_retries=30)
        results, stats = asyncio.run(storm(registry, ask, options, "openai/m"))
    assert [reply.text for reply in results] == [f"echo of prompt {i}" for i in range(CALLS)]
    assert min(weather.counts[kind] for kind in PASSING) > 0
    assert stats.tries == CALLS + sum(weather.counts.values()) == len(server.requests)
    assert (stats.calls, stats.errors, stats.in_flight) == (CALLS, 0, 0)
    assert stats.rate_limited == weather.counts["429"]


def test_what_has_no_more_tries_is_an_error_and_never_an_answer(registry, ask, fast: ModelOptions) -> None:
    """Without retries every fault shows: answers + truncated + refused + errors are all calls, each counted right."""
    weather = Storm(0.3, (*PASSING, "length", "refusal"), 3)
    with ChatServer(weather, answer=echo) as server:
        options = dataclasses.replace(fast, base_url=server.url, timeout=300.0, max_retries=0, rate_limit_wait=0.0)
        results, stats = asyncio.run(storm(registry, ask, options, "openai/m"))
    replies = [(i, r) for i, r in enumerate(results) if isinstance(r, Reply)]
    errors = [r for r in results if isinstance(r, ModelError)]
    assert len(replies) + len(errors) == CALLS
    assert len(errors) == sum(weather.counts[kind] for kind in PASSING if kind != "empty") == stats.errors
    cut = [r for _, r in replies if r.completions[0].finish_reason == "length"]
    refused = [r for _, r in replies if r.completions[0].refusal]
    assert (len(cut), len(refused)) == (weather.counts["length"], weather.counts["refusal"])
    empty = [r for _, r in replies if not r.text and r not in refused]
    assert len(empty) == weather.counts["empty"]
    whole = [(i, r) for i, r in replies if r not in cut and r not in refused and r not in empty]
    assert all(reply.text == f"echo of prompt {i}" for i, reply in whole)
    assert len(server.requests) == CALLS


def test_hanging_servers_are_given_up_and_asked_again(registry, ask, fast: ModelOptions) -> None:
    """A busy machine may let other calls time out too: they are asked again as well, and nothing else is asserted."""
    weather = Storm(0.1, ("hang",), 4)
    with ChatServer(weather, answer=echo) as server:
        options = dataclasses.replace(fast, base_url=server.url, timeout=1.5, max_retries=50)
        results, stats = asyncio.run(storm(registry, ask, options, "openai/m"))
    assert [reply.text for reply in results] == [f"echo of prompt {i}" for i in range(CALLS)]
    assert weather.counts["hang"] > 0
    assert stats.tries >= CALLS + weather.counts["hang"]
    assert (stats.errors, stats.in_flight) == (0, 0)
