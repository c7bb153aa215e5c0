"""Requests in the chat-completions protocol."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from creval.errors import UsageError
from creval.exact_json import quick_dumps
from creval.types.content import MEDIA_TYPES, Part, TextPart, data_url
from creval.types.messages import GenerateRequest, Message
from creval.types.tools import Tool

__all__ = ["BARE", "LIMITS", "chat_message", "chat_tools", "check_chat", "exclusive_settings", "request_body"]

LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "num_predict")
"""The servers' names for the token limit of an answer."""

_NEEDS_COMPLETION_TOKENS = re.compile(r"(?:openai/)?(?:gpt-5|o[1-9])(?![0-9a-z])", re.IGNORECASE)
_CLAUDE = re.compile(r"(?<![a-z])claude(?![a-z])", re.IGNORECASE)
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_OWN = frozenset({"model", "messages", "n", "stream"})
BARE = ("chat_template", "none")
"""The setting that continues the messages' texts unchanged, without a chat."""


def exclusive_settings(model: str) -> tuple[str, ...]:
    """Return the settings of which a model accepts only one: Claude since 2025 refuses temperature next to top_p."""
    return ("temperature", "top_p") if _CLAUDE.search(model) else ()


def check_chat(request: GenerateRequest) -> None:
    """Raise UsageError if a request is not a chat but a bare text to continue."""
    if request.settings.get(BARE[0]) == BARE[1]:
        raise UsageError(
            "the provider accepts only chats, but the task sends bare text (chat_template: none)",
            fix="Use a server with /v1/completions (hosted_vllm/..., chat/...) or hf/..., or use a chat.",
        )


def request_body(model: str, provider: str, request: GenerateRequest, also: Mapping[str, Any] | None = None) -> bytes:
    """Return the JSON body of one call. Settings that are None are left out, so that any can be removed.

    `also` are members that the server requires of every request.
    OpenAI's reasoning models (gpt-5 and the o series) call the answer's limit `max_completion_tokens`.
    Raises UsageError if the user may not change a setting, or it is not JSON.
    """
    check_chat(request)
    messages = [{"role": m.role, "content": m.content} if m.plain else chat_message(m) for m in request.messages]
    body: dict[str, Any] = {"model": model, "messages": messages}
    if request.tools:
        body["tools"] = chat_tools(request.tools)
    for name, value in request.settings.items():
        if value is not None:
            if name in _OWN:
                raise UsageError(f"{name!r} is not a generation setting", fix=f"Leave {name} out of the settings.")
            body[name] = value
    if request.n > 1:
        body["n"] = request.n
    if "max_tokens" in body and provider == "openai" and _NEEDS_COMPLETION_TOKENS.match(model):
        body.setdefault("max_completion_tokens", body.pop("max_tokens"))
    if "top_logprobs" in body:
        body.setdefault("logprobs", True)
    if also:
        body.update(also)
    try:
        return quick_dumps(body) or _ENCODER.encode(body).encode()
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"a generation setting cannot be sent as JSON: {error}", fix="Use plain finite values."
        ) from None


def chat_message(message: Message) -> dict[str, Any]:
    """Return a message in OpenAI's form: media as data URLs or base64, tool calls as functions."""
    content = message.content
    data: dict[str, Any] = {"role": message.role}
    data["content"] = content if isinstance(content, str) else [_part(part) for part in content]
    if message.tool_calls:
        data["content"] = data["content"] or None
        data["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    return data


def chat_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return tools in OpenAI's form."""
    return [{"type": "function", "function": tool.to_json()} for tool in tools]


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if part.kind == "image":
        return {"type": "image_url", "image_url": {"url": part.url or data_url(part.media_type, part.data)}}
    if part.kind == "audio":
        form = MEDIA_TYPES.get(part.media_type, part.media_type.rpartition("/")[2])
        return {"type": "input_audio", "input_audio": {"data": base64.b64encode(part.data).decode(), "format": form}}
    name = part.name or f"file.{MEDIA_TYPES.get(part.media_type, 'bin')}"
    return {"type": "file", "file": {"filename": name, "file_data": part.url or data_url(part.media_type, part.data)}}
