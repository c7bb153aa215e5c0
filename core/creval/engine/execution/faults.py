"""Errors as plain data and back, so that they can cross from one process to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from creval import errors
from creval.errors import CrevalError, PluginError
from creval.models.answers.reply_json import lost_from_json, lost_to_json
from creval.models.secrets import redact

__all__ = ["crossing_error", "read_error"]

_FURTHER = ("http_status", "retry_after", "every_call", "closed", "fetched")


def crossing_error(error: BaseException) -> dict[str, Any]:
    """Return an error as plain data; one that creval does not raise on purpose becomes a PluginError."""
    if not isinstance(error, CrevalError):
        error = PluginError(redact(f"{type(error).__name__}: {error}"))
    kind = next(each.__name__ for each in type(error).__mro__ if each.__module__ == errors.__name__)
    data = {"kind": kind, "what": error.what, "where": error.where, "cure": error.cure}
    data |= {name: getattr(error, name) for name in _FURTHER if hasattr(error, name)}
    lost = getattr(error, "lost", None)
    return data | ({} if lost is None else {"lost": lost_to_json(lost)})


def read_error(data: Mapping[str, Any]) -> CrevalError:
    """Return the error of which `crossing_error` told."""
    kind: type[CrevalError] = getattr(errors, data["kind"])
    error = kind.__new__(kind)
    CrevalError.__init__(error, data["what"], where=data["where"], cure=data["cure"])
    if isinstance(error, errors.ModelError):
        error.lost = lost_from_json(data["lost"]) if "lost" in data else None
    if isinstance(error, errors.TaskError):
        error.problems = ()
    for name in _FURTHER:
        if name in data:
            setattr(error, name, data[name])
    return error
