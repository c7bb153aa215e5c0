"""Parsers of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.plugins import parameters as params
from creval.plugins.registry import Registry

__all__ = ["register"]


def _refines(parameters: Mapping[str, Any]) -> bool:
    """Whether the task file says `refine: true`."""
    return bool(parameters.get("refine"))


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_json(registry)
    _register_marked(registry)
    _register_plain(registry)
    _register_last(registry)


def _register_json(registry: Registry) -> None:
    registry.add(
        "parser",
        "json_array",
        "creval.parsing.json.values:JsonArray",
        "the JSON array in an answer, in a fence or in prose",
        parameters=params.schema(
            items=params.one_of("any", "string", "number", "object"),
            minimum=params.integer(0),
            choose=params.one_of("largest", "last", "first"),
            key=params.text(1),
            field=params.text(1),
            refine=params.flag(),
            refusals=params.flag(),
        ),
        refines=_refines,
        reads="json",
        gives="list",
    )
    registry.add(
        "parser",
        "json_object",
        "creval.parsing.json.values:JsonObject",
        "the JSON object in an answer, or one value of it",
        parameters=params.schema(
            key=params.text(1),
            keys=params.list_of(params.text()),
            choose=params.one_of("last", "first"),
            refine=params.flag(),
            refusals=params.flag(),
        ),
        positional="key",
        refines=_refines,
        reads="json",
    )


def _register_marked(registry: Registry) -> None:
    registry.add(
        "parser",
        "tagged",
        "creval.parsing.pattern:Tagged",
        "the text inside a tag",
        parameters=params.schema(
            tag=params.text(pattern=r"^[A-Za-z][\w.-]{0,63}$"),
            choose=params.one_of("last", "first"),
            closing=params.one_of("required", "optional"),
            ignore_case=params.flag(),
            refine=params.flag(),
            refusals=params.flag(),
        ),
        positional="tag",
        refines=_refines,
    )
    registry.add(
        "parser",
        "regex",
        "creval.parsing.pattern:Regex",
        "the match of a regular expression, under a time limit",
        parameters=params.schema(
            pattern=params.text(1, 2000),
            group=params.either(params.integer(), params.text()),
            choose=params.one_of("first", "last", "all"),
            ignore_case=params.flag(),
            multiline=params.flag(),
            dotall=params.flag(),
            refine=params.flag(),
            refusals=params.flag(),
            required=("pattern",),
        ),
        positional="pattern",
        refines=_refines,
    )


def _register_plain(registry: Registry) -> None:
    registry.add(
        "parser",
        "text",
        "creval.parsing.lists:Text",
        "the whole answer",
        parameters=params.schema(refine=params.flag(), refusals=params.flag()),
        refines=_refines,
        reads="prose",
        gives="text",
    )
    registry.add(
        "parser",
        "lines",
        "creval.parsing.lists:Lines",
        "the lines of an answer without list marks",
        parameters=params.schema(
            marked=params.flag(),
            keep_marks=params.flag(),
            limit=params.integer(1),
            minimum=params.integer(0),
            refine=params.flag(),
            refusals=params.flag(),
        ),
        positional="limit",
        refines=_refines,
        reads="prose",
        gives="list",
    )


def _register_last(registry: Registry) -> None:
    registry.add(
        "parser",
        "words",
        "creval.parsing.lists:Words",
        "clean words from a list or a text (refines)",
        parameters=params.schema(
            limit=params.integer(1),
            unique=params.flag(),
            minimum=params.integer(0),
            multiword=params.one_of("drop", "keep", "first", "split"),
            min_letters=params.integer(1),
            lower=params.flag(),
        ),
        positional="limit",
        refines=True,
        gives="list",
    )
    registry.add(
        "parser",
        "last_number",
        "creval.parsing.numbers:LastNumber",
        "the last number of an answer",
        parameters=params.schema(decimal=params.one_of("point", "comma"), refine=params.flag(), refusals=params.flag()),
        refines=_refines,
        reads="prose",
        gives="number",
    )
    registry.add(
        "parser",
        "choice",
        "creval.parsing.choice:Choice",
        "the option that an answer names",
        parameters=params.schema(
            options=params.list_of(params.text(1), minimum=1), refine=params.flag(), refusals=params.flag()
        ),
        positional="options",
        refines=_refines,
        reads="prose",
        gives="text",
    )
