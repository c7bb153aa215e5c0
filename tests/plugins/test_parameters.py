"""The words for parameters give the JSON Schemas that they stand for, and those hold what they say."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from creval.plugin import params


def test_parameters_are_these_and_no_others() -> None:
    schema = params.schema(utility=params.one_of("max", "min"), quantile=params.number(0, 1), required=("utility",))
    assert schema == {
        "type": "object",
        "properties": {
            "utility": {"enum": ["max", "min"]},
            "quantile": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "additionalProperties": False,
        "required": ["utility"],
    }


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (params.one_of("a", "b"), ["a", "b"], ["c", 1, None]),
        (params.number(), [1, -2.5], ["1", True, None]),
        (params.number(0, 1), [0, 0.5, 1], [-0.1, 1.1]),
        (params.number(above=0, maximum=1), [0.1, 1], [0, 2]),
        (params.integer(2, 4), [2, 4], [1, 5, 2.5]),
        (params.text(), ["", "a"], [1, None]),
        (params.text(1, 2), ["a", "ab"], ["", "abc"]),
        (params.text(pattern="^a"), ["ab"], ["ba"]),
        (params.flag(), [True, False], [0, "yes"]),
        (params.list_of(params.text(1), minimum=1), [["a"]], [[], [""], "a"]),
        (params.either(params.integer(), params.text()), [1, "a"], [1.5, None]),
        (
            params.either(params.text(), params.list_of(params.text(), minimum=1)),
            ["a", ["a"]],
            [[], 1],
        ),
    ],
)
def test_a_word_allows_what_it_says(schema: dict[str, Any], right: list[Any], wrong: list[Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    assert all(validator.is_valid(value) for value in right)
    assert not any(validator.is_valid(value) for value in wrong)


def test_marks_say_more_about_a_parameter() -> None:
    assert params.text(file=True, about="a file") == {"type": "string", "description": "a file", "x-file": True}
    assert params.integer(condition=True) == {"type": "integer", "x-condition": True}
    assert params.component("parser", about="reads it") == {"x-component": "parser", "description": "reads it"}
    assert params.schema(remote=True)["x-remote"] is True
    assert "x-remote" not in params.schema()
