"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from creval.plugin import Registry, hookimpl, params

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the parser and the scorer."""
    registry.add(
        "parser",
        "math",
        "creval_math.components:Math",
        "the last mathematical expression of an answer, in LaTeX",
        parameters=params.schema(
            choose=params.one_of(
                "last", "first", about="which expression, where none is in a \\boxed{} or after a cue"
            ),
            seconds=params.number(above=0, maximum=60, about="to read an expression (5)"),
        ),
    )
    registry.add(
        "scorer",
        "math_equal",
        "creval_math.components:MathEqual",
        "1 if the answer is an expression equal to the doc's",
        parameters=params.schema(
            field=params.text(1), seconds=params.number(above=0, maximum=60, about="to compare two expressions (5)")
        ),
        positional="field",
        produces=("math_equal",),
        ranges={"math_equal": "0/1"},
        takes=("text", "number"),
    )
