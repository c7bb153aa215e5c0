"""Parsers of the core."""

from __future__ import annotations

from typing import Any

from creval.plugins.registry import Registry

__all__ = ["register"]

_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_POSITIVE = {"type": "integer", "minimum": 1}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "required": list(required),
    }


def _one_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_json(registry)
    _register_marked(registry)
    _register_plain(registry)


def _register_json(registry: Registry) -> None:
    registry.add(
        "parser",
        "json_array",
        "creval.parsing.json_values:JsonArray",
        "the JSON array in an answer, in a fence or in prose",
        parameters=_object(
            {
                "items": _one_of("any", "string", "number", "object"),
                "minimum": _COUNT,
                "choose": _one_of("largest", "last", "first"),
                "refine": _FLAG,
            }
        ),
    )
    registry.add(
        "parser",
        "json_object",
        "creval.parsing.json_values:JsonObject",
        "the JSON object in an answer, or one value of it",
        parameters=_object(
            {
                "key": {"type": "string", "minLength": 1},
                "keys": {"type": "array", "items": {"type": "string"}},
                "choose": _one_of("last", "first"),
                "refine": _FLAG,
            }
        ),
        positional="key",
    )


def _register_marked(registry: Registry) -> None:
    registry.add(
        "parser",
        "tagged",
        "creval.parsing.tagged:Tagged",
        "the text inside a tag",
        parameters=_object(
            {
                "tag": {"type": "string", "pattern": r"^[A-Za-z][\w.-]{0,63}$"},
                "choose": _one_of("last", "first"),
                "closing": _one_of("required", "optional"),
                "ignore_case": _FLAG,
                "refine": _FLAG,
            }
        ),
        positional="tag",
    )
    registry.add(
        "parser",
        "regex",
        "creval.parsing.pattern:Regex",
        "what a regular expression matches, under a time limit",
        parameters=_object(
            {
                "pattern": {"type": "string", "minLength": 1, "maxLength": 2000},
                "group": {"type": ["integer", "string"]},
                "choose": _one_of("first", "last", "all"),
                "ignore_case": _FLAG,
                "multiline": _FLAG,
                "dotall": _FLAG,
                "refine": _FLAG,
            },
            "pattern",
        ),
        positional="pattern",
    )


def _register_plain(registry: Registry) -> None:
    registry.add(
        "parser",
        "text",
        "creval.parsing.lines:Text",
        "the whole answer",
        parameters=_object({"refine": _FLAG}),
    )
    registry.add(
        "parser",
        "lines",
        "creval.parsing.lines:Lines",
        "the lines of an answer without list marks",
        parameters=_object(
            {"marked": _FLAG, "keep_marks": _FLAG, "limit": _POSITIVE, "minimum": _COUNT, "refine": _FLAG}
        ),
        positional="limit",
    )
    registry.add(
        "parser",
        "words",
        "creval.parsing.words:Words",
        "clean words out of a list or a text (refines)",
        parameters=_object(
            {
                "limit": _POSITIVE,
                "unique": _FLAG,
                "minimum": _COUNT,
                "multiword": _one_of("drop", "keep", "first", "split"),
                "min_letters": _POSITIVE,
                "lower": _FLAG,
            }
        ),
        positional="limit",
    )
    registry.add(
        "parser",
        "last_number",
        "creval.parsing.numbers:LastNumber",
        "the last number of an answer",
        parameters=_object({"refine": _FLAG}),
    )
    registry.add(
        "parser",
        "choice",
        "creval.parsing.choice:Choice",
        "which of some options an answer names",
        parameters=_object(
            {
                "options": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
                "refine": _FLAG,
            }
        ),
        positional="options",
    )
