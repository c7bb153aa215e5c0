"""Every artefact is checked against its own JSON Schema when it is written."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from creval.errors import RunError

__all__ = ["check", "check_manifest", "check_results"]


@functools.cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    text = (resources.files("creval") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def check(name: str, data: Mapping[str, Any]) -> None:
    """Check plain data against `schemas/<name>.schema.json`. Raises RunError with the first fault's place."""
    for fault in _validator(name).iter_errors(data):
        place = "/".join(str(part) for part in fault.absolute_path) or "the whole"
        raise RunError(
            f"{name}: {place}: {fault.message[:300]}", fix="This is a fault of creval or of a plugin: report it."
        )


def check_manifest(data: Mapping[str, Any]) -> None:
    """Check run.json."""
    check("run", data)


def check_results(data: Mapping[str, Any]) -> None:
    """Check results.json: numbers or null, never NaN, never strings for numbers."""
    check("results", data)
