"""No reply ends a run or damages its folder: five hundred replies, each changed somewhere at random."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from support.chat_server import ChatServer, HttpError, Raw, Received, Reset
from support.parrot import parrot

import creval
from creval.engine.run import resume
from creval.runs.jsonl import read_lines
from creval.runs.schemas import check

REPLIES = 250
"""Of each of two seeds."""
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 1e308, 10**30, 10**400, float("nan"), float("inf"), float("-inf")),
    *("", " ", "stop", "length", "error", "abort", "\ud800", "\x00", "word1", "<think>", "</think>", "a" * 5000),
    *([], {}, [[]], [None], ["word1"], {"text": "word1"}, {"message": "no"}, {"code": 502, "message": "x"}, 402, 429),
    *("data: x", "content_filter", "[DONE]", {"content": None}, [{"type": "text", "text": "word1"}], "NaN"),
]


def whole(word: str) -> dict[str, Any]:
    """A reply with everything that a server may send."""
    top = [{"token": word, "logprob": -0.1}, {"token": "x", "logprob": -3.0}]
    logprobs = {"content": [{"token": word, "logprob": -0.1, "top_logprobs": top}]}
    message = {"role": "assistant", "content": word, "reasoning": "hm", "refusal": None, "tool_calls": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs, "error": None}
    details = {"completion_tokens_details": {"reasoning_tokens": 1}, "prompt_tokens_details": {"cached_tokens": 1}}
    usage = {"prompt_tokens": 2, "completion_tokens": 3, "cost": 0.001, "cost_details": {}, "is_byok": False, **details}
    return {"id": "x", "model": "m", "provider": "p", "choices": [choice], "usage": usage, "error": None}


def mutated(data: Any, draw: random.Random) -> Any:
    """The data with one to three places replaced, removed or doubled."""
    data = copy.deepcopy(data)
    for _ in range(draw.randint(1, 3)):
        places: list[tuple[Any, Any]] = []
        walk = [data]
        while walk:
            here = walk.pop()
            members = list(here.items()) if isinstance(here, dict) else list(enumerate(here))
            for key, value in members:
                places.append((here, key))
                if isinstance(value, dict | list):
                    walk.append(value)
        if not places:
            break
        holder, key = draw.choice(places)
        how = draw.random()
        if how < 0.7:
            holder[key] = copy.deepcopy(draw.choice(ODD))
        elif how < 0.85 or isinstance(holder, dict):
            del holder[key]
        else:
            holder.insert(key, copy.deepcopy(holder[key]))
    return data


def as_events(body: Any) -> bytes:
    """The same as a stream of events, cut somewhere."""
    return b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in (body, body)) + b"data: [DONE]\n\n"


def reply(request: Received, seed: int) -> Any:
    """A changed reply, drawn from the question and how often it was asked."""
    word = parrot(request)
    draw = random.Random(f"{seed}/{word}/{request.seen}")
    how = draw.random()
    body = mutated(whole(word), draw)
    data = as_events(body) if how < 0.15 else json.dumps(body).encode()
    if how > 0.97:
        return HttpError(draw.choice([400, 403, 413, 422, 500, 503]), draw.choice([body, "<html>", "", "{"]))
    if how > 0.95:
        return Reset()
    if how > 0.85:  # damaged bytes
        cut = draw.randrange(len(data))
        data = data[:cut] + draw.choice([b"", b"\xff", b'"', b"}", b"NaN", b"\x00"]) + data[cut + draw.randint(0, 9) :]
    return Raw(data, draw.choice(["application/json", "text/event-stream", "text/plain"]))


@pytest.mark.parametrize("seed", [1, 2])
def test_no_reply_ends_a_run_or_damages_its_folder(make_task, options, seed, monkeypatch):
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "sk-0123456789abcdef0123")
    task = make_task(docs=REPLIES)
    with ChatServer(lambda request: reply(request, seed), answer=parrot) as server:
        given = options(base_url=server.url, max_retries=1, generation={"logprobs": True}, allowed_error_share=1.0)
        result = creval.run([task], "hosted_vllm/parrot", given)
        assert len(server.requests) >= REPLIES
        sound(result.folder)
        resume(result.folder)
        resume(result.folder)
    counts = sound(result.folder)
    assert sum(counts.values()) == REPLIES
    assert counts["skipped"] == 0
    assert counts["scored"] > REPLIES / 4


def sound(folder: Any) -> dict[str, int]:
    """Every file keeps to its schema, every sample stands once; returns the counts by status."""
    samples, scores = (list(read_lines(folder / kind / "parrot.jsonl")) for kind in ("samples", "scores"))
    for kind, records in (("sample", samples), ("score", scores)):
        for record in records:
            check(kind, record)
        assert len({record["doc_id"] for record in records}) == len(records) == REPLIES
    results = json.loads((folder / "results.json").read_text(), parse_constant=pytest.fail)
    check("results", results)
    check("run", json.loads((folder / "run.json").read_text(), parse_constant=pytest.fail))
    return results["tasks"][0]["counts"]
