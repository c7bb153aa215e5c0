"""A quick check whether a file of a run has the shape of its JSON Schema, so that foreign files crash no command.

It checks the kinds of values, and that entries of lists have names. Other missing keys, and unknown ones, may come from
another version. Bounds and lists of values are checked when files are written.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from creval.tasks.yaml.schema import load_schema

__all__ = ["misshapen"]

_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63,
    "number": lambda value: isinstance(value, float) or _KINDS["integer"](value),
}
_NAMES = frozenset({"task", "name", "condition"})
"""The keys that identify entries of lists, required in every version."""


def misshapen(name: str, data: Any) -> str | None:
    """Return the path (`tasks/0/planned`) of the first value of another kind than in `schemas/<name>`, or None."""
    root = load_schema(name)
    return _fault(data, root, root, ())


def _fault(value: Any, schema: Any, root: Mapping[str, Any], at: tuple[str, ...]) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    if "$ref" in schema:
        schema = functools.reduce(lambda part, key: part[key], str(schema["$ref"]).split("/")[1:], root)
    kinds = schema.get("type", ("string", "null") if "enum" in schema else ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_KINDS[kind](value) for kind in kinds):
        return "/".join(at) or "the whole"
    if isinstance(value, dict):
        known, additional = schema.get("properties", {}), schema.get("additionalProperties")
        if at and any(key in _NAMES and key not in value for key in schema.get("required", ())):
            return "/".join(at)
        members = ((key, member, known.get(key, additional)) for key, member in value.items())
    elif isinstance(value, list):
        members = ((str(number), member, schema.get("items")) for number, member in enumerate(value))
    else:
        return None
    return next((path for key, member, spec in members if (path := _fault(member, spec, root, (*at, key)))), None)
