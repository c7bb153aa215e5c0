"""What a component takes, gives and needs, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from creval.plugins.registry import Component

__all__ = ["signature"]

_LISTS = {
    "produces": "produces the scores",
    "uses": "uses the resources",
    "roles": "asks the roles",
    "prompts": "needs the prompts",
    "provides": "gives prompts the names",
}
_LIMITS = (("minimum", ">="), ("exclusiveMinimum", ">"), ("maximum", "<="), ("exclusiveMaximum", "<"))


def signature(component: Component) -> Iterator[str]:
    """Yield one line a parameter (`name: type`), then what the component produces, uses, asks and provides."""
    from creval.plugins.registry import ANY_SCORE

    required = component.parameters.get("required", ())
    for name, schema in component.parameters.get("properties", {}).items():
        note = ", required" if name in required else ""
        about = schema.get("description", "")
        yield f"{name}: {_type(schema)}{note}{f' ({about})' if about else ''}"
    for field, words in _LISTS.items():
        names = ["as its parameters say" if name == ANY_SCORE else name for name in getattr(component, field)]
        if names:
            yield f"{words} {', '.join(names)}"


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type that a JSON Schema describes, e.g. `integer >= 1`, `max | min`, `list of string`."""
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "x-component" in schema:
        return f"component of kind {schema['x-component']}"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " | ".join(_type(one) for one in schema[key])
    kind = schema.get("type", "any value")
    if isinstance(kind, list) and "x-component" in schema.get("items", {}):
        return f"{_type(schema['items'])}, or a list of them"
    if kind == "array":
        items = schema.get("items")
        return f"list of {_type(items)}" if isinstance(items, Mapping) and items else "list"
    limits = [f" {sign} {schema[key]}" for key, sign in _LIMITS if key in schema]
    return (kind if isinstance(kind, str) else " | ".join(kind)) + ",".join(limits)
