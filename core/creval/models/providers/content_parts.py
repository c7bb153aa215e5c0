"""The content of a message: a text, or typed parts of which only those of text belong to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Content", "read_content", "told_reasoning"]

_TEXT_TYPES = frozenset({"text", "output_text"})
_REASONING_TYPES = ("reasoning", "thinking", "thought", "summary_text")
_REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking", "thought", "summary", "text")
_TOOL_TYPES = ("tool", "function", "server_tool", "mcp")
_MESSAGE_FIELDS = ("reasoning", "reasoning_content", "reasoning_text", "thinking", "thoughts")
_MESSAGE_PARTS = ("reasoning_details", "thinking_blocks", "reasoning", "reasoning_content", "thinking")
_DEEPEST = 8


@dataclass(slots=True)
class Content:
    """What a message holds. `strange`: a part of a kind that is not known was left out."""

    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    strange: bool = False


def read_content(content: Any) -> Content | None:
    """Read a message's content; None where it is neither a text, nor nothing, nor parts.

    Only parts of the types `text` and `output_text`, and parts without a type, join the answer. Reasoning goes to the
    reasoning, a refusal to the refusals, tool calls nowhere; every other part is left out and noted.
    """
    found = Content()
    if content is None:
        return found
    if isinstance(content, str):
        found.texts.append(content)
        return found
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list):
        return None
    for part in parts:
        if isinstance(part, str):
            found.texts.append(part)
        elif isinstance(part, Mapping):
            _read_part(part, found)
        elif part is not None:
            found.strange = True
    return found


def _read_part(part: Mapping[str, Any], found: Content) -> None:
    kind = part.get("type")
    kind = kind.strip().lower().replace("-", "_") if isinstance(kind, str) else "" if kind is None else "?"
    if any(word in kind for word in _REASONING_TYPES) or (not kind and _is_thought(part)):
        found.reasoning.append(_inner_text(part))
    elif kind == "refusal":
        found.refusals.append(_inner_text(part.get("refusal") or part))
    elif kind in _TEXT_TYPES or (not kind and "text" in part):
        text = part.get("text")
        text = text.get("value") if isinstance(text, Mapping) else text
        if isinstance(text, str):
            found.texts.append(text)
        else:
            found.strange = found.strange or text is not None
    elif not kind.startswith(_TOOL_TYPES):
        found.strange = True


def _is_thought(part: Mapping[str, Any]) -> bool:
    """Whether a part without a type is reasoning: marked so (Gemini), or named so."""
    return part.get("thought") is True or (
        "text" not in part and any(isinstance(part.get(name), str | list) for name in _REASONING_FIELDS[:-2])
    )


def _inner_text(value: Any, depth: int = 0) -> str:
    """The text of a part, of parts within it, or of the fields that reasoning stands in."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "".join(_inner_text(each, depth + 1) for each in value)
    if isinstance(value, Mapping):
        return next((text for name in _REASONING_FIELDS if (text := _inner_text(value.get(name), depth + 1))), "")
    return ""


def told_reasoning(message: Mapping[str, Any]) -> str:
    """Return the reasoning that a message tells beside its content, under the first of its names that holds some."""
    for name in _MESSAGE_FIELDS:
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    return next((text for name in _MESSAGE_PARTS if (text := _inner_text(message.get(name)))), "")
