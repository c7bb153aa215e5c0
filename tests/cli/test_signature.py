"""What `creval plugins --components` says of a component."""

from __future__ import annotations

from creval.cli.commands.plugins import signature
from creval.plugins.registry import Registry


def test_parameters_and_what_goes_in_and_out() -> None:
    registry = Registry()
    parameters = {
        "type": "object",
        "properties": {
            "words": {"type": "integer", "minimum": 2, "maximum": 9},
            "gate": {"enum": ["max", "min"]},
            "pool": {"type": "array", "items": {"type": "string"}},
            "key": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]},
            "group": {"type": ["integer", "string"], "description": "which part"},
            "inner": {"x-component": "generator"},
            "free": {},
        },
        "required": ["gate"],
    }
    registry.add("scorer", "far", "a:b", "Far.", parameters=parameters, produces=("far", "*"), uses=("embedding",))
    assert list(signature(registry.get("scorer", "far"))) == [
        "words: integer >= 2, <= 9",
        "gate: max | min, required",
        "pool: list of string",
        "key: string | list of number",
        "group: integer | string (which part)",
        "inner: component of kind generator",
        "free: any value",
        "produces the scores far, depending on its parameters",
        "uses the resources embedding",
    ]
