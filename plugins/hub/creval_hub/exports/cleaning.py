"""Manifest and results of a run, cleaned for publication: paths of this machine are shortened to their ends."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["cleaned", "encodable", "encodable_data"]

_PATH = re.compile(
    r"(?:(?<![\w:/.\\-])|(?<=\w/)(?=/))"  # also after a provider: replay//somewhere/answers.jsonl
    r"(?:~|[A-Za-z]:)?[\\/](?:[^\s\"'\\/:=,]+[\\/])*([^\s\"'\\/:=,]+)[\\/]?"
)
_LOCAL = ("cache_folder",)
"""Options that concern only this machine."""


def cleaned(data: Any) -> Any:
    """Return plain data of `run.json` or `results.json` with every absolute path shortened to its last part.

    A command stays valid: `-o /somewhere/runs/mine` becomes `-o mine`, since `-o runs/mine` would be another command.
    """
    if isinstance(data, dict):
        return {key: None if key in _LOCAL else cleaned(value) for key, value in data.items()}
    if isinstance(data, list):
        return [cleaned(value) for value in data]
    return _PATH.sub(r"\1", data) if isinstance(data, str) else data


def encodable(text: str) -> str:
    """Return a text without lone surrogates, which UTF-8 cannot encode: they are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def encodable_data(data: Any) -> Any:
    """Return plain data without lone surrogates in its texts; ids and names of conditions may contain some."""
    if isinstance(data, dict):
        return {encodable_data(key): encodable_data(value) for key, value in data.items()}
    if isinstance(data, list):
        return [encodable_data(value) for value in data]
    return encodable(data) if isinstance(data, str) else data
