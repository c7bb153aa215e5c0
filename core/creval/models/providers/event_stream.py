"""A reply that comes as a stream of events, put together to the body that it would have been in one piece."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["is_stream", "whole_body"]

_TEXTS = ("content", "reasoning", "reasoning_content", "refusal")
_FIRST = (b"data:", b"event:", b"id:", b"retry:", b":")


def is_stream(content_type: str, data: bytes) -> bool:
    """Whether a body is a stream of server-sent events, by its type or by how it begins."""
    return "event-stream" in content_type or data.lstrip()[:8].startswith(_FIRST)


def whole_body(data: bytes) -> dict[str, Any]:
    """Return the body of a chat completion made of the events. Raises ValueError where an event is no JSON object.

    A stream that broke off has choices without a finish reason; an error among the events becomes the body's own.
    """
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for text in _events(data.decode("utf-8", "replace")):
        if text.strip() == "[DONE]":
            break
        event = json.loads(text)
        if not isinstance(event, dict):
            raise ValueError("an event is no JSON object")
        body.update({name: value for name, value in event.items() if name != "choices" and value is not None})
        parts = event.get("choices")
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                _add(choices, part)
    for choice in choices.values():
        _join(choice["message"])
    return {**body, "choices": [choices[index] for index in sorted(choices)]}


def _events(text: str) -> list[str]:
    """The data of each event; comments and other fields are passed over."""
    events: list[str] = []
    lines: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            events.append("\n".join(lines))
            lines = []
    return events


def _join(message: dict[str, Any]) -> None:
    for name in _TEXTS:
        parts = message.get(name)
        if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
            message[name] = "".join(parts)


def _add(choices: dict[int, dict[str, Any]], part: dict[str, Any]) -> None:
    index = part.get("index")
    index = index if isinstance(index, int) else 0
    choice = choices.setdefault(index, {"index": index, "message": {}, "finish_reason": None})
    delta = part.get("delta") or part.get("message")
    message = choice["message"]
    for name, value in delta.items() if isinstance(delta, dict) else ():
        if name in _TEXTS and isinstance(value, str):
            message.setdefault(name, []).append(value)
        elif isinstance(value, list) and isinstance(message.setdefault(name, []), list):
            message[name] += value
        elif value is not None:
            message[name] = value
    if part.get("finish_reason") is not None:
        choice["finish_reason"] = part["finish_reason"]
    if part.get("error"):
        choice["error"] = part["error"]
    logprobs = part.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(tokens, list):
        choice.setdefault("logprobs", {"content": []})["content"] += tokens
