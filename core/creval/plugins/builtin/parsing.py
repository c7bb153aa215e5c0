"""Parsers of the core."""

from __future__ import annotations

from creval.plugins.parameters import either, flag, integer, list_of, one_of, params, text
from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_json(registry)
    _register_marked(registry)
    _register_plain(registry)


def _register_json(registry: Registry) -> None:
    registry.add(
        "parser",
        "json_array",
        "creval.parsing.json.values:JsonArray",
        "the JSON array in an answer, in a fence or in prose",
        parameters=params(
            items=one_of("any", "string", "number", "object"),
            minimum=integer(0),
            choose=one_of("largest", "last", "first"),
            key=text(1),
            field=text(1),
            refine=flag(),
            refusals=flag(),
        ),
    )
    registry.add(
        "parser",
        "json_object",
        "creval.parsing.json.values:JsonObject",
        "the JSON object in an answer, or one value of it",
        parameters=params(
            key=text(1), keys=list_of(text()), choose=one_of("last", "first"), refine=flag(), refusals=flag()
        ),
        positional="key",
    )


def _register_marked(registry: Registry) -> None:
    registry.add(
        "parser",
        "tagged",
        "creval.parsing.tagged:Tagged",
        "the text inside a tag",
        parameters=params(
            tag=text(pattern=r"^[A-Za-z][\w.-]{0,63}$"),
            choose=one_of("last", "first"),
            closing=one_of("required", "optional"),
            ignore_case=flag(),
            refine=flag(),
            refusals=flag(),
        ),
        positional="tag",
    )
    registry.add(
        "parser",
        "regex",
        "creval.parsing.pattern:Regex",
        "what a regular expression matches, under a time limit",
        parameters=params(
            pattern=text(1, 2000),
            group=either(integer(), text()),
            choose=one_of("first", "last", "all"),
            ignore_case=flag(),
            multiline=flag(),
            dotall=flag(),
            refine=flag(),
            refusals=flag(),
            required=("pattern",),
        ),
        positional="pattern",
    )


def _register_plain(registry: Registry) -> None:
    registry.add(
        "parser",
        "text",
        "creval.parsing.lines:Text",
        "the whole answer",
        parameters=params(refine=flag(), refusals=flag()),
    )
    registry.add(
        "parser",
        "lines",
        "creval.parsing.lines:Lines",
        "the lines of an answer without list marks",
        parameters=params(
            marked=flag(), keep_marks=flag(), limit=integer(1), minimum=integer(0), refine=flag(), refusals=flag()
        ),
        positional="limit",
    )
    registry.add(
        "parser",
        "words",
        "creval.parsing.lists:Words",
        "clean words out of a list or a text (refines)",
        parameters=params(
            limit=integer(1),
            unique=flag(),
            minimum=integer(0),
            multiword=one_of("drop", "keep", "first", "split"),
            min_letters=integer(1),
            lower=flag(),
        ),
        positional="limit",
    )
    registry.add(
        "parser",
        "last_number",
        "creval.parsing.numbers:LastNumber",
        "the last number of an answer",
        parameters=params(decimal=one_of("point", "comma"), refine=flag(), refusals=flag()),
    )
    registry.add(
        "parser",
        "choice",
        "creval.parsing.choice:Choice",
        "which of some options an answer names",
        parameters=params(options=list_of(text(1), minimum=1), refine=flag(), refusals=flag()),
        positional="options",
    )
