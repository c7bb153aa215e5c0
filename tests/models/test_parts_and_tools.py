"""Messages with images, audio, files and tool calls: what each client sends, and what it reads."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import pickle
from dataclasses import replace
from typing import Any

import pytest
from support.chat_server import Answer, ChatServer

from creval.models.answers.flags import MALFORMED_ARGUMENTS
from creval.models.cache_key import cache_key
from creval.models.model_options import ModelSpec, ProviderOptions
from creval.models.provider_traits import ProviderTraits
from creval.models.providers.chat_provider import openai, parse_body
from creval.models.providers.chat_reply import read_reply
from creval.models.secrets import Mask, masked_reply
from creval.types.content import Media, MediaPart, TextPart, content_digest, media_in, media_type_of, read_data_url
from creval.types.messages import Completion, GenerateRequest, Message, Reply
from creval.types.reply_json import reply_from_json, reply_to_json
from creval.types.tools import Tool, ToolCall
from creval_litellm.provider import LitellmProvider
from creval_ray.wire import decode_message, encode_message

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
WAV = b"RIFF\x10\0\0\0WAVEfmt " + bytes(16)
PDF = b"%PDF-1.7\n" + bytes(32)
LOOK = Tool("look", "Look at a place.", {"type": "object", "properties": {"at": {"type": "string"}}})
CLIENTS = {"chat": (openai, "gpt-4o"), "litellm": (LitellmProvider, "openai/gpt-4o")}
PARTS = Message(
    "user",
    (
        TextPart("What is this?"),
        MediaPart("image", PNG),
        MediaPart("image", url="https://example.org/a.png"),
        MediaPart("audio", WAV),
        MediaPart("file", PDF, name="paper.pdf"),
    ),
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd")


def generate(client: str, url: str, request: GenerateRequest) -> Reply:
    make, model = CLIENTS[client]

    async def go() -> Reply:
        provider = make(model, ProviderOptions(base_url=url))
        try:
            return await provider.generate(request)
        finally:
            await provider.close()

    return asyncio.run(go())


def called(*calls: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"tool_calls": listed, **more}


@pytest.mark.parametrize("client", CLIENTS)
def test_parts_are_sent_in_openais_form(client, ask) -> None:
    with ChatServer([Answer("a cat")]) as server:
        reply = generate(client, server.url, replace(ask(), messages=(PARTS,)))
    assert reply.text == "a cat"
    (sent,) = server.requests[0].body["messages"]
    text, image, address, audio, file = sent["content"]
    assert text == {"type": "text", "text": "What is this?"}
    assert read_data_url(image["image_url"]["url"]) == PNG and image["type"] == "image_url"
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert address["image_url"]["url"] == "https://example.org/a.png"
    assert (base64.b64decode(audio["input_audio"]["data"]), audio["input_audio"]["format"]) == (WAV, "wav")
    assert read_data_url(file["file"]["file_data"]) == PDF and file["file"]["filename"] == "paper.pdf"


@pytest.mark.parametrize("client", CLIENTS)
def test_tools_are_sent_and_calls_read(client, ask) -> None:
    said = called(("a1", "look", '{"at": "door"}'), ("a2", "look", '{"at": '), content=None)
    reported = (
        Message("user", "Go."),
        Message("assistant", "", (ToolCall("a0", "look", '{"at": "roof"}'),)),
        Message("tool", "nothing", tool_call_id="a0"),
    )
    with ChatServer([Answer("", finish_reason="tool_calls", message=said)]) as server:
        reply = generate(client, server.url, replace(ask(), messages=reported, tools=(LOOK,)))
    body = server.requests[0].body
    assert [each["function"]["name"] for each in body["tools"]] == ["look"]
    assert body["tools"][0]["function"]["parameters"] == LOOK.parameters
    assert body["messages"][1]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "roof"}'}
    assert (body["messages"][2]["tool_call_id"], body["messages"][2]["content"]) == ("a0", "nothing")
    assert reply.tool_calls == (ToolCall("a1", "look", '{"at": "door"}'), ToolCall("a2", "look", '{"at": '))
    assert [call.values for call in reply.tool_calls] == [{"at": "door"}, None]
    assert (MALFORMED_ARGUMENTS in reply.flags, reply.lack) == (True, None)
    assert reply.completions[0].finish_reason == "tool_calls"
    assert reply.message == Message("assistant", "", reply.tool_calls)


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        ({"function_call": {"name": "f", "arguments": "{}"}}, [ToolCall("call_0", "f", "{}")]),
        (called(("", "f", ""), ("x", "g", "1")), [ToolCall("call_0", "f"), ToolCall("x", "g", "1")]),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, [ToolCall("call_0", "f", '{"a": 1}')]),
        ({"tool_calls": [{"function": {"name": 7}}, "x", {"function": None}, {}]}, []),
        ({"tool_calls": "f"}, []),
        ({"content": "plain", "tool_calls": None}, []),
    ],
)
def test_forms_of_tool_calls(message, calls) -> None:
    reply = read_reply({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, 0.0)
    assert list(reply.tool_calls) == calls
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply)))).tool_calls == reply.tool_calls


def test_tool_calls_in_pieces_of_a_stream() -> None:
    deltas = [
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x"'}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}, {"index": 1, "function": {"arguments": "}"}}]},
    ]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    body = parse_body("text/event-stream", "".join(f"data: {json.dumps(each)}\n\n" for each in events).encode())
    assert read_reply(body, 0.0).tool_calls == (ToolCall("a", "f", '{"x": 1}'), ToolCall("b", "g", "{}"))


def test_a_key_in_arguments_is_hidden() -> None:
    call = ToolCall("a", "look", '{"at": "sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"}')
    reply = masked_reply(Reply((Completion("", tool_calls=(call,)),)), Mask({"sk-live-Zx81kQpLm02VvWq7Tr5Yb9Nd"}))
    assert "Zx81" not in reply.tool_calls[0].arguments and reply.tool_calls[0].name == "look"


def test_parts_and_tools_are_part_of_the_cache_key(ask) -> None:
    spec, traits = ModelSpec.parse("openai/gpt-4o"), ProviderTraits()
    plain = ask("What?")
    other = replace(plain, messages=(Message("user", (TextPart("What?"),)),))
    images = [replace(plain, messages=(Message("user", (MediaPart("image", data),)),)) for data in (PNG, PNG + b"x")]
    variants = [plain, other, *images, replace(plain, tools=(LOOK,)), replace(plain, tools=(Tool("look"),))]
    assert len({cache_key(spec, traits, each) for each in variants}) == len(variants)
    # A question of texts alone has the key that it always had.
    assert cache_key(spec, traits, plain) == "77b5fa3e66ede10e81c60fc9f8db2c806cdf774e2dde8e4727b909f85fd5d38f"


def test_messages_as_plain_data() -> None:
    assert Message("user", "hello").to_json() == {"role": "user", "content": "hello"}
    digest = hashlib.sha256(PNG).hexdigest()
    stored = PARTS.to_json()["content"]
    assert stored[1] == {"type": "image", "sha256": digest, "media_type": "image/png", "bytes": len(PNG)}
    assert stored[2] == {"type": "image", "url": "https://example.org/a.png"}
    assert (PARTS.text, [part.kind for part in PARTS.media]) == ("What is this?", ["image", "image", "audio", "file"])
    assert content_digest(stored) != content_digest(stored[:-1])
    for message in (PARTS, Message("assistant", "x", (ToolCall("a", "f", "{"),)), Message("tool", "y", (), "a")):
        assert decode_message(json.loads(json.dumps(encode_message(message)))) == message


def test_media_of_a_doc() -> None:
    media = Media.of(PNG, "cat.png")
    assert json.loads(json.dumps(media)) == dict(media) and str([media]) == f"[media:{media['sha256']}]"
    assert media_in({"a": [1, {"b": media}], "c": "x"}) == {media.digest: media}
    assert media.part("image") == MediaPart("image", PNG, "image/png", "cat.png", digest=media.digest)
    with pytest.raises(ValueError, match="is image/png, which is no audio"):
        media.part("audio")
    with pytest.raises(ValueError, match="either data or an url"):
        MediaPart("image")


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (PNG, "x.jpg", "image/png"),
        (b"\xff\xd8\xff\xe0", "", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "", "image/webp"),
        (WAV, "", "audio/wav"),
        (b"root:x:0:0", "passwd.png", "application/octet-stream"),
        (b"a,b\n", "table.csv", "text/csv"),
    ],
)
def test_media_types_are_recognised_by_the_first_bytes(data, name, media_type) -> None:
    assert media_type_of(data, name) == media_type


def test_media_go_to_another_process_as_plain_data() -> None:
    media = Media.of(PNG, load=lambda: PNG)
    assert type(pickle.loads(pickle.dumps({"a": [media]}))["a"][0]) is dict
