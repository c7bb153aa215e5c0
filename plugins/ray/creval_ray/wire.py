"""The wire format: errors, requests, replies and statistics as plain data, and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from creval.plugin import (
    Condition,
    CrevalError,
    MediaPart,
    Message,
    ModelError,
    PluginError,
    Reply,
    SampleKey,
    TextPart,
    Tool,
    Usage,
)
from creval.plugin.models import GenerateRequest, Origin
from creval.plugin.workers import (
    ModelStats,
    lost_from_json,
    lost_to_json,
    redact,
    reply_from_json,
    reply_to_json,
    tool_calls_from_json,
)

__all__ = [
    "decode_error",
    "decode_media",
    "decode_reply",
    "decode_request",
    "decode_stats",
    "encode_error",
    "encode_media",
    "encode_reply",
    "encode_request",
]

_FURTHER = ("http_status", "retry_after", "every_call", "closed", "fetched")
_ERRORS = CrevalError.__module__


def _kinds(kind: type[CrevalError] = CrevalError) -> dict[str, type[CrevalError]]:
    """Return creval's own errors by name."""
    found = {kind.__name__: kind} if kind.__module__ == _ERRORS else {}
    for each in kind.__subclasses__():
        found |= _kinds(each)
    return found


def encode_error(error: BaseException) -> dict[str, Any]:
    """Return an error as plain data; one that creval does not raise on purpose becomes a PluginError."""
    if not isinstance(error, CrevalError):
        error = PluginError(redact(f"{type(error).__name__}: {error}"))
    kind = next(each.__name__ for each in type(error).__mro__ if each.__module__ == _ERRORS)
    data = {"kind": kind, "what": error.what, "where": error.where, "fix": error.fix}
    data |= {name: getattr(error, name) for name in _FURTHER if hasattr(error, name)}
    lost = getattr(error, "lost", None)
    return data | ({} if lost is None else {"lost": lost_to_json(lost)})


def decode_error(data: Mapping[str, Any]) -> CrevalError:
    """Return the error that `encode_error` encoded."""
    kind = _kinds()[data["kind"]]
    error = kind.__new__(kind)
    CrevalError.__init__(error, data["what"], where=data["where"], fix=data["fix"])
    if isinstance(error, ModelError):
        error.lost = lost_from_json(data["lost"]) if "lost" in data else None
    if data["kind"] == "TaskError":
        error.problems = ()  # type: ignore[attr-defined]
    for name in _FURTHER:
        if name in data:
            setattr(error, name, data[name])
    return error


def encode_media(part: MediaPart) -> dict[str, Any]:
    """Return a part with its bytes in base64."""
    fields = {name: getattr(part, name) for name in ("kind", "media_type", "name", "url", "digest")}
    return {**fields, "data": base64.b64encode(part.data).decode("ascii")}


def decode_media(data: Mapping[str, Any]) -> MediaPart:
    """Return the part that `encode_media` encoded."""
    return MediaPart(**{**data, "data": base64.b64decode(data["data"])})


def encode_message(message: Message) -> dict[str, Any]:
    """Return a message with all data to send."""
    if message.plain:
        return message.to_json()
    content = message.content
    parts = [p.to_json() if isinstance(p, TextPart) else encode_media(p) for p in content if not isinstance(p, str)]
    return {**message.to_json(), "content": content if isinstance(content, str) else parts}


def decode_message(data: Mapping[str, Any]) -> Message:
    """Return the message that `encode_message` encoded."""
    content = data["content"]
    if not isinstance(content, str):
        content = tuple(TextPart(each["text"]) if "text" in each else decode_media(each) for each in content)
    return Message(data["role"], content, tool_calls_from_json(data.get("tool_calls")), data.get("tool_call_id"))


def encode_request(request: GenerateRequest) -> dict[str, Any]:
    """Return a request as plain data."""
    origin, condition = request.origin, request.origin.condition
    return {
        "messages": [encode_message(message) for message in request.messages],
        "tools": [tool.to_json() for tool in request.tools],
        "settings": dict(request.settings),
        "n": request.n,
        "own_tags": sorted(request.own_tags),
        "keep_reasoning": request.keep_reasoning,
        "by_reference": request.by_reference,
        "key": list(origin.key),
        "role": origin.role,
        "call": origin.call,
        "doc": dict(origin.doc),
        "condition": None if condition is None else [condition.name, dict(condition.settings)],
    }


def decode_request(data: Mapping[str, Any]) -> GenerateRequest:
    """Return the request that `encode_request` encoded."""
    condition = None if data["condition"] is None else Condition(*data["condition"])
    return GenerateRequest(
        tuple(decode_message(each) for each in data["messages"]),
        data["settings"],
        Origin(SampleKey(*data["key"]), data["role"], data["call"], data["doc"], condition),
        data["n"],
        frozenset(data["own_tags"]),
        data["keep_reasoning"],
        data["by_reference"],
        tuple(Tool(**each) for each in data["tools"]),
    )


def encode_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as plain data, with its line in the ledger."""
    lost = None if reply.lost is None else lost_to_json(reply.lost)
    return {"reply": reply_to_json(reply), "record": reply.record, "lost": lost}


def decode_reply(data: Mapping[str, Any]) -> Reply:
    """Return the reply that `encode_reply` encoded."""
    lost = None if data["lost"] is None else lost_from_json(data["lost"])
    return replace(reply_from_json(data["reply"]), record=data["record"], lost=lost)


def decode_stats(data: Mapping[str, Any]) -> ModelStats:
    """Return a model's statistics from the data of `ModelStats.to_json`."""
    tokens = {name: int(data[name]) for name in Usage.__dataclass_fields__}
    rest = {name: value for name, value in data.items() if name not in tokens}
    return ModelStats(**rest, usage=Usage(**tokens))
