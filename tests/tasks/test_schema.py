"""Data are checked quickly, and with the faults that jsonschema finds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry

from creval.tasks.yaml.schema import validator_for

SCHEMAS: tuple[dict[str, Any], ...] = (
    *({"type": kind} for kind in ("null", "boolean", "integer", "number", "string", "array", "object")),
    *({"const": 1}, {"const": True}, {"const": [0]}, {"enum": [1, "a"]}, {"enum": [False]}),
    *({"minimum": 0, "maximum": 1}, {"minLength": 2}, {"pattern": "^a$"}, {"pattern": "^[^/]+$"}, {"minItems": 1}),
    *({"uniqueItems": True}, {"items": {"type": "number"}}, {"required": ["a"]}, {"minProperties": 1}),
    {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"propertyNames": {"pattern": "^[a-z]+$"}},
    {"oneOf": [{"type": "number"}, {"const": 1}]},
    {"anyOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]},
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 1.0, -1, 0.5, 10**30, math.nan, math.inf, "", "a", "a\n", "ä", "a/b", "\ud800"),
    *([], [0], [False], [1, 1.0], [1, True], [[1], [1.0]], {}, {"a": 1}, {"a": "b", "c": 0}, {"A": None}, {1: 2}),
)


def test_faults_are_those_of_jsonschema() -> None:
    for schema in SCHEMAS:
        quick, thorough = validator_for(schema), Draft202012Validator(schema)
        for value in VALUES:
            faults = [(fault.validator, fault.schema_path) for fault in thorough.iter_errors(value)]
            found = [(fault.validator, fault.schema_path) for fault in quick.iter_errors(value)]
            assert found == faults, (schema, value)


@pytest.mark.parametrize("schema", [{"$ref": "https://example.org/a.json"}, {"pattern": "("}, {"type": "text"}])
def test_a_schema_that_cannot_be_used_fails_as_in_jsonschema(schema: dict[str, Any]) -> None:
    with pytest.raises(Exception) as expected:
        list(Draft202012Validator(schema, registry=Registry()).iter_errors("a"))
    with pytest.raises(expected.type):
        list(validator_for(schema).iter_errors("a"))
