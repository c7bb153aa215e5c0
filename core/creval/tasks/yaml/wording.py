"""Plain-language messages for faults found by a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from creval.errors import nearest
from creval.format import counted
from creval.tasks.yaml.nodes import KeyPath

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["SchemaFault", "expected", "say", "shown"]

_KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_YAML_1_1_BOOLEANS = ("yes", "no", "on", "off", "y", "n")


class SchemaFault(NamedTuple):
    """One error of the validator: the keyword that failed, what it requires, the value, and its path."""

    keyword: str
    required_value: Any
    value: Any
    schema: Mapping[str, Any]
    path: KeyPath
    of_key: bool
    message: str
    branches: Sequence[tuple[Any, SchemaFault]] = ()

    @classmethod
    def of(cls, error: ValidationError) -> SchemaFault:
        schema: Any = error.schema
        return cls(
            keyword=str(error.validator),
            required_value=error.validator_value,
            value=error.instance,
            schema=schema if isinstance(schema, Mapping) else {},
            path=tuple(error.absolute_path),
            of_key="propertyNames" in error.absolute_schema_path,
            message=error.message,
            branches=[(inner.schema_path[0], cls.of(inner)) for inner in error.context or ()],
        )


def say(fault: SchemaFault) -> tuple[str, str | None]:
    """Return the message and the fix for a fault of a single value."""
    wording = _WORDINGS.get(fault.keyword)
    return wording(fault) if wording else (f"{shown(fault.value)} is not {expected(fault)}", None)


def expected(fault: SchemaFault) -> str:
    """Return in a few words what the schema requires."""
    if fault.keyword == "type":
        return _kinds(fault.required_value)
    if fault.keyword in ("enum", "const"):
        values = fault.required_value if fault.keyword == "enum" else [fault.required_value]
        return " or ".join(_literal(value) for value in values)
    if "description" in fault.schema:
        return str(fault.schema["description"])
    if fault.keyword == "pattern":
        return _PATTERNS.get(fault.required_value, f"a text that matches the regular expression {fault.required_value}")
    if fault.keyword in _KEY_FAULTS:
        return "a mapping with other keys"
    return "allowed here"


def shown(value: Any) -> str:
    """Show a value with its kind, cut to one short line."""
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = _literal(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return f"the text {text!r}" if isinstance(value, str) else text


def _literal(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kinds(kinds: str | Sequence[str]) -> str:
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    return " or ".join(_KINDS.get(name, name) for name in names)


Wording = Callable[[SchemaFault], tuple[str, str | None]]


def _type(fault: SchemaFault) -> tuple[str, str | None]:
    value = fault.value
    names = [fault.required_value] if isinstance(fault.required_value, str) else list(fault.required_value)
    fix = None
    if isinstance(value, str) and value.lower() in _YAML_1_1_BOOLEANS and "boolean" in names:
        fix = "Write true or false."
    elif isinstance(value, int | float) and names == ["string"]:
        about = f"It is {fault.schema['description']}. " if "description" in fault.schema else ""
        quoted = re.search(str(fault.schema.get("pattern", "")), str(value))  # 1.0 in quotes is no version either
        fix = f"{about}{'Put it in quotes.' if quoted else _completed(value, fault)}".strip() or None
    elif isinstance(value, str) and {"integer", "number"} & set(names) and value.replace(".", "", 1).isdigit():
        fix = "Remove the quotes."
    elif len(names) > 1 and "pattern" in fault.schema and "description" in fault.schema:
        fix = f"It is {fault.schema['description']}."
    return f"must be {_kinds(fault.required_value)}, but is {shown(value)}", fix


def _enum(fault: SchemaFault) -> tuple[str, str | None]:
    values = [_literal(value) for value in fault.required_value]
    near = nearest(str(fault.value), values)
    return f"must be {' or '.join(values)}, but is {shown(fault.value)}", f"Did you mean {near[0]!r}?" if near else None


def _const(fault: SchemaFault) -> tuple[str, str | None]:
    return f"must be {_literal(fault.required_value)}, but is {shown(fault.value)}", None


def _pattern(fault: SchemaFault) -> tuple[str, str | None]:
    near = nearest(str(fault.value), _WORD.findall(fault.required_value))
    fix = f"Did you mean {near[0]!r}?" if near else _completed(fault.value, fault)
    return f"{shown(fault.value)} is not {expected(fault)}", fix or None


def _completed(value: Any, fault: SchemaFault) -> str:
    """Return the advice to write a version with its three numbers; nothing for other keys."""
    text = re.fullmatch(r"v?(\d+(?:\.\d+){0,2})", str(value)) if fault.path[-1:] == ("version",) else None
    forms = [f"{text[1]}{zeros}" for zeros in ("", ".0", ".0.0")] if text else []
    return next((f"Write {form}." for form in forms if re.search(fault.schema["pattern"], form)), "")


def _dependent(fault: SchemaFault) -> tuple[str, str | None]:
    """Return that a key requires another one; of several the first."""
    pairs = ((key, other) for key, others in fault.required_value.items() if key in fault.value for other in others)
    key, other = next(pair for pair in pairs if pair[1] not in fault.value)
    return f"the key {key!r} needs the key {other!r}", f"Add {other}, or leave out {key}."


def _negated(fault: SchemaFault) -> tuple[str, str | None]:
    forbidden = fault.required_value if isinstance(fault.required_value, Mapping) else {}
    values = forbidden.get("enum") or [forbidden[key] for key in ("const",) if key in forbidden]
    if values:
        return f"must not be {' or '.join(_literal(value) for value in values)}", None
    keys = [key for key in forbidden.get("required", ()) if isinstance(fault.value, Mapping) and key in fault.value]
    if keys:
        several = f"the keys {' and '.join(map(repr, keys))} exclude each other" if len(keys) > 1 else ""
        return several or f"the key {keys[0]!r} is not allowed here", f"Leave out {keys[-1]}."
    return f"{shown(fault.value)} is not {expected(fault)}", None


def _several_forms(fault: SchemaFault) -> tuple[str, str | None]:
    return f"{shown(fault.value)} fits more than one of the forms that are allowed here", "Write it in one of them."


def _contains(fault: SchemaFault) -> tuple[str, str | None]:
    inner = fault.required_value if isinstance(fault.required_value, Mapping) else {}
    values = inner.get("enum") or [inner[key] for key in ("const",) if key in inner]
    what = " or ".join(map(_literal, values)) or inner.get("description") or _kinds(inner.get("type", "item"))
    return f"must contain {what}, but does not", None


def _too_long(fault: SchemaFault) -> tuple[str, str | None]:
    most = len(fault.schema.get("prefixItems", ()))
    return f"must contain at most {counted(most, 'items')}, but contains {len(fault.value)}", None


def _twice(fault: SchemaFault) -> tuple[str, str | None]:
    return "contains the same value twice", "Remove one of the two."


def _bound(words: str) -> Wording:
    return lambda fault: (f"must be {words} {fault.required_value}, but is {shown(fault.value)}", None)


def _size(words: str, item: str) -> Wording:
    def word(fault: SchemaFault) -> tuple[str, str | None]:
        if words == "at least" and fault.required_value == 1:
            return "must not be empty", None
        return f"must contain {words} {counted(fault.required_value, item)}, but contains {len(fault.value)}", None

    return word


_KEY_FAULTS = ("required", "dependentRequired", "dependentSchemas", "propertyNames")
_WORD = re.compile(r"(?<![\w\[\\-])[a-z]{3,}(?![\w\]-])")
"""A word that a pattern contains literally: `newest` of `^([0-9a-f]{40}|newest)$`."""
_PATTERNS: Mapping[str, str] = {
    "^[A-Za-z][A-Za-z0-9_]*$": "a name of letters, digits and _, starting with a letter",
    "^[a-z][a-z0-9_]*$": "a name of lower-case letters, digits and _, starting with a letter",
    r"^[A-Za-z][\w.-]{0,63}$": "a name of letters, digits, _, . and -, starting with a letter",
}
_WORDINGS: Mapping[str, Wording] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("above"),
    "exclusiveMaximum": _bound("below"),
    "multipleOf": _bound("a multiple of"),
    "minLength": _size("at least", "characters"),
    "maxLength": _size("at most", "characters"),
    "minItems": _size("at least", "items"),
    "maxItems": _size("at most", "items"),
    "minProperties": _size("at least", "keys"),
    "maxProperties": _size("at most", "keys"),
    "uniqueItems": _twice,
    "dependentRequired": _dependent,
    "not": _negated,
    "oneOf": _several_forms,
    "contains": _contains,
    "items": _too_long,
}
