"""Reads `tools:`, which the target may call, each with the JSON Schema of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.errors import nearest
from creval.tasks.sections.section_reader import Reading
from creval.tasks.yaml.nodes import KeyPath, Node, plain

__all__ = ["check_tools"]


def check_tools(reading: Reading) -> None:
    """Check that tools have distinct names and valid schemas of their arguments."""
    seen: set[str] = set()
    for path, node in reading.entries("tools"):
        name = node.value["name"]
        if name.value in seen:
            reading.add(name.place, f"two tools are called {name.value!r}", (*path, "name"), "Rename one of them.")
        seen.add(name.value)
        parameters = node.get("parameters")
        if parameters is not None:
            _check_schema(reading, parameters, (*path, "parameters"))


def _check_schema(reading: Reading, node: Node, path: KeyPath) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    schema: Mapping[str, Any] = plain(node)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        at = tuple(error.absolute_path)
        found = node
        for step in at:
            found = found.value[step]
        near = nearest(str(found.value), _TYPES) if at[-1:] == ("type",) else ()
        fix = f"Did you mean {near[0]!r}?" if near else "See json-schema.org/understanding-json-schema."
        reading.add(found.place, "this is not a JSON Schema of arguments", (*path, *at), fix)
        return
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in known:
            near = nearest(name, known)
            fix = f"Did you mean {near[0]!r}?" if near else "Add it to properties, or leave it out."
            reading.add(node.value["required"].place, f"no argument is called {name!r}", (*path, "required"), fix)


_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
