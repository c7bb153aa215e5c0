"""Checks files of a run against their JSON Schemas when they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval.errors import RunError
from creval.tasks.yaml.schema import named_validator

__all__ = ["check", "check_manifest", "check_results"]


def check(name: str, data: Mapping[str, Any]) -> None:
    """Check plain data against `schemas/<name>.schema.json`. Raises RunError with the path of the first fault."""
    for fault in named_validator(name).iter_errors(data):
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
