"""The manifest and the results of a run as they may be published: paths of this machine are shortened to their ends."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["cleaned", "encodable", "encodable_data"]

_PATH = re.compile(
    r"(?:(?<![\w:/.\\-])|(?<=\w/)(?=/))"  # also behind a provider: replay//somewhere/answers.jsonl
    r"(?:~|[A-Za-z]:)?[\\/](?:[^\s\"'\\/:=,]+[\\/])*([^\s\"'\\/:=,]+)[\\/]?"
)
_LOCAL = ("cache_folder",)
"""Options that are of this machine alone."""


def cleaned(data: Any) -> Any:
    """Return plain data of `run.json` or `results.json` with every absolute path cut down to its last part.

    A command keeps its form (`-o runs/mine` for `-o /somewhere/runs/mine` would be another one: it becomes `-o mine`).
    """
    if isinstance(data, dict):
        return {key: None if key in _LOCAL else cleaned(value) for key, value in data.items()}
    if isinstance(data, list):
        return [cleaned(value) for value in data]
    return _PATH.sub(r"\1", data) if isinstance(data, str) else data


def encodable(text: str) -> str:
    """Return a text without lone surrogates, which no file in UTF-8 can hold: they are written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def encodable_data(data: Any) -> Any:
    """Return plain data of which no text holds a lone surrogate; ids may, and names of conditions."""
    if isinstance(data, dict):
        return {encodable_data(key): encodable_data(value) for key, value in data.items()}
    if isinstance(data, list):
        return [encodable_data(value) for value in data]
    return encodable(data) if isinstance(data, str) else data
