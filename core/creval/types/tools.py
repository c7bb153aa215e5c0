"""Tools that a model may call, and its calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Tool", "ToolCall", "tool_calls_from_json"]

_NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call. `parameters` is the JSON Schema of its arguments, an object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: _NO_PARAMETERS)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool. `arguments` is the text as the model wrote it, possibly malformed."""

    id: str
    name: str
    arguments: str = ""

    @property
    def values(self) -> Mapping[str, Any] | None:
        """The arguments by name; None if their text is not a JSON object. An empty text means no arguments."""
        if not self.arguments.strip():
            return {}
        try:
            values = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return None
        return values if isinstance(values, dict) else None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, with `malformed` if the arguments are not a JSON object."""
        data: dict[str, Any] = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return data if self.values is not None else {**data, "malformed": True}


def tool_calls_from_json(data: Sequence[Mapping[str, Any]] | None) -> tuple[ToolCall, ...]:
    """Return calls from plain data, in which arguments may be an object and the id may be missing.

    Raises KeyError or TypeError for other data.
    """
    calls = []
    for number, call in enumerate(data or ()):
        arguments = call.get("arguments", "")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(ToolCall(str(call.get("id") or f"call_{number}"), str(call["name"]), text))
    return tuple(calls)
