"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping

from creval.plugin import hookimpl

__all__ = ["creval_commands"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return no commands: `push`, `pull` and `export` are in the core's list of commands."""
    return {}
