"""A reply that comes as a stream of events, put together to the body that it would have been in one piece."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["is_stream", "parse_body", "whole_body"]

_TEXTS = frozenset({"content", "reasoning", "reasoning_content", "reasoning_text", "thinking", "refusal"})
_FIRST = (b"data:", b"event:", b"id:", b"retry:", b":")
_BOM = b"\xef\xbb\xbf"


def parse_body(content_type: str, data: bytes) -> Any:
    """Return the JSON of a body: one value, a stream of events, or one object per line. Raises ValueError."""
    if is_stream(content_type, data):
        return whole_body(data)
    try:
        return json.loads(data)
    except ValueError:
        lines = data.decode("utf-8", "replace").strip().split("\n")
        if len(lines) < 2 or not all(line.startswith("{") for line in lines if line.strip()):
            raise
        return _put_together(line for line in lines if line.strip())


def is_stream(content_type: str, data: bytes) -> bool:
    """Whether a body is a stream of server-sent events, by its type or by how it begins."""
    return "event-stream" in content_type or data[:16].removeprefix(_BOM).lstrip()[:8].startswith(_FIRST)


def whole_body(data: bytes) -> dict[str, Any]:
    """Return the body of a chat completion made of the events. Raises ValueError where an event is no JSON object.

    A stream that broke off has choices without a finish reason; an error among the events becomes the body's own.
    """
    return _put_together(_events(data.decode("utf-8-sig", "replace")))


def _put_together(events: Iterator[str]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for text in events:
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


def _events(text: str) -> Iterator[str]:
    """The data of each event; comments and other fields are passed over."""
    lines: list[str] = []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line.strip() and lines:
            yield from _data(lines)
            lines = []


def _data(lines: list[str]) -> Iterator[str]:
    """The lines of one event joined; each alone where the server left out the blank lines between events."""
    joined = "\n".join(lines)
    try:
        json.loads(joined)
    except ValueError:
        yield from lines
    else:
        yield joined


def _join(message: dict[str, Any]) -> None:
    for name in _TEXTS:
        parts = message.get(name)
        if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
            message[name] = "".join(parts)


def _add(choices: dict[int, dict[str, Any]], part: dict[str, Any]) -> None:
    index = part.get("index")
    index = index if isinstance(index, int) else 0
    choice = choices.setdefault(index, {"index": index, "message": {}, "finish_reason": None})
    delta, whole = part.get("delta"), part.get("message")
    if isinstance(whole, dict) and whole.get("content"):  # all at once, also behind pieces of it
        choice["message"] = dict(whole)
    elif isinstance(delta, dict):
        _add_delta(choice["message"], delta)
    for name in ("finish_reason", "native_finish_reason"):
        if part.get(name) is not None:
            choice[name] = part[name]
    if part.get("error"):
        choice["error"] = part["error"]
    logprobs = part.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(tokens, list):
        choice.setdefault("logprobs", {"content": []})["content"] += tokens


def _add_delta(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        known = message.get(name)
        if name in _TEXTS and isinstance(value, str):
            if isinstance(known, list):
                known.append(value)
            elif not isinstance(known, str) or not known:
                message[name] = [value]
            else:
                message[name] = [known, value]
        elif isinstance(value, list) and isinstance(message.setdefault(name, []), list):
            message[name] += value
        elif value is not None:
            message[name] = value
