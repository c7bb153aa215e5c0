"""What stands in a run folder in place of a doc's text, and of messages made from it (`store: reference`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["doc_digest", "message_reference", "referenced", "text_digest"]

_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def text_digest(text: str) -> str:
    """Return the sha256 (hex) of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def doc_digest(fields: Mapping[str, Any]) -> str:
    """Return the sha256 (hex) of a doc's fields as canonical JSON."""
    return text_digest(_CANONICAL.encode(dict(fields)))


def message_reference(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message by role, digest and length; what the model itself said stays as it is."""
    if message["role"] == "assistant" or "digest" in message:
        return dict(message)
    text = str(message["content"])
    return {"role": message["role"], "digest": text_digest(text), "characters": len(text)}


def referenced(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages by reference."""
    return [message_reference(message) for message in messages]
