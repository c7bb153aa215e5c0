"""Functions that describe the YAML parameters of a component, in place of a JSON Schema.

    parameters=params(utility=one_of("max", "min", "mean"), quantile=number(0, 1), required=("utility",))

Each function returns plain data (a JSON Schema), so that registering imports nothing. All except `schema` accept the
marks `about` (a description for people), `condition` (a task's conditions may vary it), `file` (a text that names a
file next to the YAML, which must exist) and `prompt` (a text that names a prompt of the task or of a role).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from creval.types.kinds import Kind

    class Marks(TypedDict, total=False):
        """The marks that every function accepts in addition to the allowed values."""

        about: str
        condition: bool
        file: bool
        prompt: bool
        role: bool


__all__ = ["component", "either", "flag", "integer", "list_of", "number", "one_of", "one_or_more", "schema", "text"]

Schema = Mapping[str, Any]
_MARKS = {"about": "description", "condition": "x-condition", "file": "x-file", "prompt": "x-prompt", "role": "x-role"}


def schema(*, required: Sequence[str] = (), remote: bool = False, **properties: Schema) -> dict[str, Any]:
    """Return the schema of a component's parameters, which allows no others.

    `remote` marks a source that needs the network (its data may come from a local mirror).
    """
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    return {**schema, "x-remote": True} if remote else schema


def one_of(*values: str, **marks: Unpack[Marks]) -> dict[str, Any]:
    """One of these words."""
    return _with_marks({"enum": list(values)}, marks)


def number(
    minimum: float | None = None, maximum: float | None = None, above: float | None = None, **marks: Unpack[Marks]
) -> dict[str, Any]:
    """A number from `minimum` to `maximum`, both included; `above` is an exclusive lower bound."""
    return _with_marks({"type": "number", "minimum": minimum, "maximum": maximum, "exclusiveMinimum": above}, marks)


def integer(minimum: int | None = None, maximum: int | None = None, **marks: Unpack[Marks]) -> dict[str, Any]:
    """A whole number from `minimum` to `maximum`, both included."""
    return _with_marks({"type": "integer", "minimum": minimum, "maximum": maximum}, marks)


def text(
    minimum: int | None = None, maximum: int | None = None, pattern: str | None = None, **marks: Unpack[Marks]
) -> dict[str, Any]:
    """A text of `minimum` to `maximum` characters that `pattern` (a regular expression) matches somewhere."""
    return _with_marks({"type": "string", "minLength": minimum, "maxLength": maximum, "pattern": pattern}, marks)


def flag(**marks: Unpack[Marks]) -> dict[str, Any]:
    """Either true or false."""
    return _with_marks({"type": "boolean"}, marks)


def list_of(item: Schema, minimum: int | None = None, **marks: Unpack[Marks]) -> dict[str, Any]:
    """A list of at least `minimum` such items. Example: `list_of(text(1), minimum=2)`."""
    return _with_marks({"type": "array", "items": item, "minItems": minimum}, marks)


def component(kind: Kind, **marks: Unpack[Marks]) -> dict[str, Any]:
    """Another component of this kind, written as in a task; the factory gets a reference to it."""
    return _with_marks({"x-component": kind}, marks)


def one_or_more(kind: Kind, **marks: Unpack[Marks]) -> dict[str, Any]:
    """One component of this kind, or a list of them; the factory gets a list of references."""
    return _with_marks({"items": component(kind), "minItems": 1, "type": ["array", "object", "string"]}, marks)


def either(*schemas: Schema, **marks: Unpack[Marks]) -> dict[str, Any]:
    """A value of exactly one of these forms. Example: `either(text(), list_of(text(), minimum=1))`."""
    if all(schema.keys() == {"type"} for schema in schemas):
        return _with_marks({"type": [schema["type"] for schema in schemas]}, marks)
    return _with_marks({"oneOf": list(schemas)}, marks)


def _with_marks(schema: Schema, marks: Marks) -> dict[str, Any]:
    marked_schema = {key: value for key, value in schema.items() if value is not None}
    for mark, value in marks.items():
        if value:
            marked_schema[_MARKS[mark]] = value
    return marked_schema
