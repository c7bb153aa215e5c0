"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]

_NAME = params.text(1)
_NAMES = params.list_of(_NAME, minimum=1)
_RENAMED = {"type": "object", "minProperties": 1, "additionalProperties": _NAME}
_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_SEVERAL = {"type": "array", "items": _SCALAR, "minItems": 1}
_ORDERS = {rule: {"type": ["string", "number"]} for rule in ("min", "above", "max", "below")}
_WHERE = {
    "type": "object",
    "minProperties": 1,
    "description": "which rows: field: value, field: [values], or field: {not, in, not_in, min, above, max, below}",
    "additionalProperties": {
        "type": ["string", "number", "boolean", "null", "array", "object"],
        "items": _SCALAR,
        "minItems": 1,
        "properties": {"not": _SCALAR, "in": _SEVERAL, "not_in": _SEVERAL, **_ORDERS},
        "additionalProperties": False,
        "minProperties": 1,
    },
}


_EXPECTED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "integer", "minimum": 1}, "columns": _NAMES},
    "additionalProperties": False,
    "minProperties": 1,
    "description": "rows and columns that the newest commit must have; another one is refused",
}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the source of datasets on the Hub."""
    registry.add(
        "source",
        "huggingface",
        "creval_datasets.huggingface:open_huggingface",
        "a data set of the Hugging Face hub, pinned by its commit",
        parameters=params.schema(
            dataset=params.text(
                pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$", about="its name on the hub: owner/name"
            ),
            revision=params.text(
                pattern="^([0-9a-f]{40}|newest)$",
                about="a full commit hash of 40 digits (branches and tags move), or newest: that of the first fetch",
            ),
            split=params.either(_NAME, _NAMES, about="the split, e.g. test, or several"),
            config=params.either(_NAME, _NAMES, about="the configuration (subset), or several"),
            where=_WHERE,
            columns=params.either(_NAMES, _RENAMED, about="the columns that are taken (all); new: old renames them"),
            origin=params.text(1, about="the field with a row's config/split, where there are several (origin)"),
            streaming=params.flag(about="store only what is taken, for data that do not fit on the disk"),
            take=params.integer(1, about="how many rows are taken, from the front (all)"),
            expected=_EXPECTED,
            required=("dataset", "revision", "split"),
            remote=True,
        ),
    )
