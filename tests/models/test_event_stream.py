"""Replies that come as a stream, in the forms that servers give it, though nobody asked for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.models.providers.chat_provider import parse_body
from creval.models.providers.chat_reply import MalformedReplyError, read_reply

SSE, JSON = "text/event-stream; charset=utf-8", "application/json"


def piece(content: Any, finish: str | None = None, **more: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish, **more}]})


A, B, END = piece("an"), piece("chor"), piece("", "stop")
WHOLE = json.dumps({"choices": [{"index": 0, "message": {"content": "anchor"}, "finish_reason": "stop"}]})
FINAL = json.dumps({"choices": [{"index": 0, "delta": {}, "message": {"content": "anchor"}, "finish_reason": "stop"}]})
STREAMS = [
    (SSE, f"data: {A}\n\ndata: {B}\n\ndata: {END}\n\ndata: [DONE]\n\n"),
    (SSE, f"data:{A}\n\ndata:{B}\n\ndata:{END}\n\n"),
    (JSON, f"data: {A}\r\n\r\ndata: {B}\r\n\r\ndata: {END}\r\n\r\ndata: [DONE]"),
    (SSE, f": keep-alive\n\nevent: message\nid: 1\ndata: {A}\n\n: ping\n\ndata: {B}\n\ndata: {END}\n\n"),
    (JSON, f"\n\n  data: {A}\n\ndata: {B}\n\ndata: {END}\n\n".lstrip("\n ")),
    (JSON, f"\ufeffdata: {A}\n\ndata: {B}\n\ndata: {END}\n\n"),
    (SSE, f"data: {A}\ndata: {B}\ndata: {END}\ndata: [DONE]\n"),
    (SSE, f"data: {WHOLE}\n\ndata: [DONE]\n\n"),
    (SSE, f"data: {A}\n\ndata: {B}\n\ndata: {FINAL}\n\n"),
    (SSE, 'data: {"choices":\ndata: [{"delta": {"content": "anchor"}, "finish_reason": "stop"}]}\n\n'),
    ("application/x-ndjson", f"{A}\n{B}\n{END}\n"),
    (JSON, f"{A}\n{B}\n\n{END}"),
    (SSE, f"data: {piece([{'type': 'text', 'text': 'an'}])}\n\ndata: {piece('chor', 'stop')}\n\n"),
    (SSE, f"retry: 3000\ndata: {A}\n\ndata: {B}\n\ndata: {END}\n\ndata: not read\n\n".replace("not read", "[DONE]")),
]


@pytest.mark.parametrize(("kind", "stream"), STREAMS)
def test_every_form_gives_the_answer(kind: str, stream: str) -> None:
    completion = read_reply(parse_body(kind, stream.encode()), 0.0).completions[0]
    assert (completion.text, completion.finish_reason) == ("anchor", "stop")


def test_reasoning_by_each_of_its_names_and_the_native_reason() -> None:
    for name in ("reasoning", "reasoning_content", "thinking", "reasoning_text"):
        events = [{"choices": [{"delta": {name: part}}]} for part in ("h", "m")]
        events.append(
            {"choices": [{"delta": {"content": "B"}, "finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"}]}
        )
        stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        completion = read_reply(parse_body(SSE, stream.encode()), 0.0).completions[0]
        assert (completion.text, completion.reasoning, completion.finish_reason) == ("B", "hm", "length")


@settings(max_examples=120)
@given(
    st.sampled_from([SSE, JSON]),
    st.lists(st.sampled_from([A, B, END, WHOLE, "data: ", "\n", "\n\n", "{", "[DONE]", "7"])),
)
def test_any_body_is_read_or_is_no_json(kind: str, pieces: list[str]) -> None:
    try:
        body = parse_body(kind, "".join(pieces).encode())
        read_reply(body, 0.0)
    except (ValueError, MalformedReplyError):
        return


@settings(max_examples=120)
@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    for prefix in (b"", b"data: "):
        try:
            parse_body(JSON, prefix + data)
        except ValueError:
            continue
