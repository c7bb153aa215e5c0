"""Functions that describe the YAML parameters of a component, in place of a JSON Schema.

    parameters=params.schema(utility=params.one_of("max", "min"), quantile=params.number(0, 1))

Promised: these names follow semantic versioning. `from creval.plugin import params` imports it.
"""

from __future__ import annotations

from creval.plugins.parameters import (
    component,
    either,
    flag,
    integer,
    list_of,
    number,
    one_of,
    one_or_more,
    schema,
    text,
)

__all__ = ["component", "either", "flag", "integer", "list_of", "number", "one_of", "one_or_more", "schema", "text"]
